"""The words around a chosen option: what announces, confirms, denies and joins options, by language."""

from __future__ import annotations

from genbench.verifiers.choice_words import read_list, read_table

ANSWERS = read_table(r"""
    en: answers?; ans; answer choice; solution; verdict
    zh: 答案; 答; 正解
    de: antwort; lösung
    fr: réponse; reponse; solution
    es: respuesta; solución; solucion
    it: risposta; soluzione
    pt: resposta; solução; gabarito
    nl: antwoord
    ru: ответ; ответом
    ja: 答え; 正解; 解答; 回答; 答案
    ko: 정답; 답안; 답변; 답
    pl: odpowiedź; odpowiedzią
    tr: cevap; cevabı; yanıt; yanıtı
    ar: الإجابة; الاجابة; إجابة; الجواب
    hi: उत्तर; जवाब
    vi: đáp án; câu trả lời
    id: jawaban; jawabannya
    sv: svar; svaret
""")
"""Nouns for "answer", as regex source."""

OPTIONS = read_table(r"""
    en: options?; choices?; letters?; alternative
    zh: 选项; 選項; 第?项
    de: option; buchstabe; auswahl; möglichkeit
    fr: option; choix; lettre; proposition
    es: opción; opcion; letra; alternativa; inciso
    it: opzione; lettera; alternativa
    pt: opção; opcao; alternativa; letra
    nl: optie; keuze
    ru: вариант; вариантом; вариантов; буква; пункт
    ja: 選択肢; 選択
    ko: 선택지; 보기; 옵션
    pl: opcja; opcję; litera
    tr: seçenek; şık
    ar: الخيار; خيار
    hi: विकल्प
    vi: phương án; lựa chọn
    id: opsi; pilihan
    sv: alternativ; alternativet
""")
"""Nouns that a letter follows: "option B"."""

CHOOSING = read_table(r"""
    en: choos(?:e|es|ing); chose; select(?:s|ed|ing)?; pick(?:s|ed|ing)?; go(?:es|ing)? with; went with;
        go(?:ing)? for; opt(?:ing|ed)? for; settl(?:e|ed|ing) (?:on|for); vote for; leaning towards?;
        mark(?:ing)?; points? (?:clearly )?(?:us )?to; bet(?:ting)? on; conclude(?:s|d)?; correct one is;
        right one is; best fit is; best match is; pick is
    zh: 选择; 選擇; 应选; 應選; 应该选; 故选; 故選; 所以选; 因此选; 选; 選
    de: wähle; nehme; entscheide mich für; tippe auf; bleibt nur; bleibt
    fr: choisis; choisirais; je prends; j'opte pour; opte pour; il faut choisir
    es: elijo; escojo; elegiría; selecciono; me quedo con; marco; marcaría
    it: scelgo; sceglierei; seleziono; opto per
    pt: escolho; seleciono; marco; marcaria; fico com; opto por
    nl: kies; ga voor
    ru: выбираю; выберу; выбираем; остаётся; остается
    ja: 選ぶのは; 選ぶべきは
    ko: 선택:
    pl: wybieram; wybrałbym
    tr: seçiyorum:
    vi: chọn; tôi chọn
    id: memilih; pilih
    sv: väljer
""")
"""Verbs that the chosen option follows."""

CONCLUDING = read_table(r"""
    en: therefore; thus; so; hence; ergo; consequently; accordingly; then; overall; finally;
        in conclusion; conclusion; in short; in summary; result; final; final choice;
        my (?:final )?(?:choice|guess|pick|vote); final letter; which is; that is; that's; it's; it is;
        this is; it['’]s got to be; it (?:has|have|had|needs) to be; (?:has|have|got) to be;
        (?:must|should|would|will|'d|to|can only) be; that would make it; makes it; make it;
        leav(?:es|ing)(?: us)?(?: only)?(?: just)?(?: with)?; left with; only; i(?:'d| would)? say;
        i think; i believe; i guess; correct; right; we (?:get|have|choose); gives(?: us)?; match(?:es)?;
        correspond(?:s|ing)? to; is; was; are; be; definitely; wait; actually; rather; instead; no; but;
        i mean; correction; sorry; hmm; ok; okay; by (?:process of )?(?:elimination|exclusion);
        on (?:second thought|reflection); make (?:that|it); ruling out the (?:others|rest); said
    zh: 因此; 所以; 故; 综上; 是; 为; 應該是; 应该是; 就是; 最终; 而是; 那就是; 只剩
    de: also; daher; somit; folglich; demnach; deshalb; ist es; es ist; ist; sondern; das ist; wäre;
        muss es sein; damit; ergebnis; richtig ist; richtig; korrekt ist; muss; nur
    fr: donc; ainsi; par conséquent; c'est(?: donc)?; c’est(?: donc)?; est; il s'agit de; mais;
        ce doit être; ce sera; conclusion; reste; il reste; il ne reste que; je dirais; doit être
    es: por (?:lo )?tanto; entonces; así que; es; sería; debe ser; tiene que ser; sino; en conclusión;
        conclusión; la correcta es; queda; solo queda; creo que es
    it: quindi; dunque; perciò; pertanto; è; sarebbe; deve essere; ma; bensì; in conclusione; resta;
        rimane; la corretta è
    pt: portanto; então; logo; assim; é(?: a)?; seria(?: a)?; deve ser(?: a)?; mas(?: sim)?; em conclusão;
        conclusão; resta(?: a)?; a correta é(?: a)?; só pode ser(?: a)?; sobra
    nl: dus; daarom; het is; is; moet zijn; maar
    ru: следовательно; значит; итак; таким образом; это; поэтому; а; верно; правильно; является; будет;
        думаю; вывод; верный; правильный; должно быть
    ja: したがって; よって; ゆえに; つまり; だから; は; 結論; なので; ので; が
    ko: 따라서; 그러므로; 그래서; 즉; 은; 는; 이; 가; 결론; 아니라; 결국
    pl: zatem; więc; dlatego; to; jest; lecz; ale
    tr: bu nedenle; sonuç olarak; yani; dolayısıyla; o halde; doğru
    ar: هي; هو; إذن; لذلك; وبالتالي
    hi: इसलिए; अतः; सही
    vi: là; vậy; do đó; vì vậy
    id: adalah; jadi; oleh karena itu
    sv: därför; alltså; är; så; utan
""")
"""Words right before the option in a concluding sentence. They count only near the end of an answer."""

FILLERS = read_table(r"""
    en: the; to; be; for sure; surely; clearly; definitely; certainly; indeed; simply; probably; likely;
        most likely; actually; obviously; then; therefore; thus; hence; just; either of course; of course;
        without a doubt; without doubt; no doubt; undoubtedly; correct; right; best; only; final; one;
        labell?ed; with; given by; in; going; i think; i believe; i would say; i'd say; that; here; again;
        really; still; say; it; it's; is; was; would; should; must; has; will; perhaps; rather; choose;
        as follows; therefore,; by; this; equal to; most; undeniably; answer; found in
    zh: 应该; 應該; 就; 是; 为; 為; 一定; 显然; 很可能; 可能; 正确; 的; 应; 选择; 选
    de: daher; also; somit; wahrscheinlich; eindeutig; sicher; sicherlich; die; der; hier; natürlich;
        demnach; ganz; klar; ist; richtige; nur; mich
    fr: donc; probablement; clairement; sûrement; la; le; l'; bien; sans doute; évidemment; certainement;
        est; que
    es: por (?:lo )?tanto; entonces; probablemente; claramente; sin duda; la; el; correcta; obviamente;
        seguramente; es; definitivamente
    it: quindi; dunque; probabilmente; chiaramente; senza dubbio; la; sicuramente; è; l'
    pt: portanto; então; provavelmente; claramente; sem dúvida; (?-i:a); (?-i:o); é; certamente; correta
    nl: dus; waarschijnlijk; duidelijk; zeker; de
    ru: скорее всего; вероятно; очевидно; точно; конечно; это; именно; под; буквой; является
    ja: おそらく; 明らかに; もちろん; 選択肢; の
    ko: 아마; 분명히; 확실히; 바로
    pl: prawdopodobnie; oczywiście; zatem; więc
    tr: kesinlikle; büyük ihtimalle
    sv: troligen; alltså; definitivt
    vi: là; đúng
    id: adalah; tentu
""")
"""Words that may come between an announcement and the option."""

COPULAS = read_table(r"""
    en: is; are; was; would be; should be; must be; will be; has to be; [’']s; being
    zh: 是; 为; 為; 应为; 選; 选
    de: ist; lautet; sind; wäre; muss; heißt
    fr: est; sont; serait; doit être; sera
    es: es; son; sería; debe ser; será
    it: è; sono; sarebbe; deve essere; sarà
    pt: é; são; seria; deve ser; será
    nl: is; zijn; luidt
    ru: —; -; –; это; является; будет
    ja: は; が
    ko: 은; 는; 이; 가
    pl: jest; brzmi
    ar: هي; هو
    vi: là
    id: adalah; ialah
    sv: är; blir
""")
"""Forms of "to be" after a noun for "answer"."""

CONFIRMING = read_table(r"""
    en: the (?:right|correct|best) (?:choice|answer|option);
        is correct; is right; must be (?:correct|right|the); is true;
        (?:would|should|will|has to|seems to|appears to) be (?:the )?(?:correct|right|best|answer);
        seems (?:right|correct|best); fits (?:best|perfectly); it must be; for sure; is best; matches;
        works best; is it; is definitely; is clearly (?:the|correct|right); wins; ✓; ✅; is what;
        is therefore; is indeed; is undoubtedly; is certainly; is obviously; final answer;
        it is(?! (?:wrong|false|not|incorrect))
    zh: 是正确; 正确; 是正確; 正確; 是对的; 对; 符合; 是答案; 是最佳; 最合适; 最符合; 为正确
    de: ist richtig; ist die richtige; ist korrekt; ist die korrekte; stimmt; ist die antwort; passt;
        die richtige; die korrekte
    fr: est correct; est correcte; est la bonne; est juste; est exacte; est la réponse; convient
    es: es correcta; es la correcta; es la respuesta; es correcto; es el correcto
    it: è corretta; è quella corretta; è la risposta; è giusta; è quella giusta
    pt: está correta; é a correta; é a resposta; está certa; é a certa
    nl: is juist; is correct; is het juiste; is goed
    ru: верен; верно; правильный; правильно; является правильн; — правильный; - правильный
    ja: が正解; が正しい; が答え; を選; です; だ; となる; になります; が適切; が最も
    ko: 입니다; 이다; 가 정답; 이 정답; 가 맞; 이 맞; 를 선택; 을 선택; 예요; 이에요; 가 옳
    pl: jest poprawn; jest prawidłow
    tr: ['’]?d[iıuü]r; doğru; şıkkı; seçeneği
    ar: صحيح; هي الإجابة; هو الصحيح
    hi: है; सही
    vi: là đúng; đúng; là đáp án
    id: benar; adalah jawaban
    sv: är rätt; är korrekt; stämmer
""")
"""Words that follow the chosen option: "(B) is correct"."""

DENYING = read_table(r"""
    en: (?:any|every)(?:thing|one) but; all but;
        not; \w*n['’]t; never; cannot; incorrect; wrong; false; untrue; eliminated; excluded;
        rul(?:e|ed|ing) out; impossible; invalid; fails?; neither; nor; none; no longer; inaccurate;
        rather than; instead of; other than; except; eliminat(?:e|ing); exclud(?:e|ing);
        reject(?:ed|ing)?; contradicts?; a trap; dismissed; discarded; unlikely; hardly; mistaken;
        irrelevant
    zh: 不是; 不对; 不對; 不正确; 不正確; 错误; 錯誤; 错; 错的; 不符; 排除; 不能; 并非; 不选; 不应; 不應;
        不可能; 不; 没有; 无法; 都不; 未必; 并不; 非; 不成立
    de: nicht; kein(?:e|er|es)?; weder; noch; falsch; ausgeschlossen; scheidet; nie; inkorrekt
    fr: pas; ni; aucune?; jamais; fau(?:x|sse); incorrecte?; éliminée?; exclue?; n['’]est
    es: no; ni; ninguna?; nunca; falsa?o?; incorrect[ao]; descartad[ao]; eliminad[ao]; tampoco
    it: non; né; nessun[ao]?; mai; fals[ao]; errat[ao]; sbagliat[ao]; scartat[ao]; esclus[ao]
    pt: não; nem; nenhuma?; nunca; fals[ao]; errad[ao]; incorret[ao]; descartad[ao]; eliminad[ao]
    nl: niet; geen; noch; fout; onjuist; nooit; verkeerd
    ru: не; нет; ни; неверн\w*; неправильн\w*; ошибочн\w*; исключ\w*; никогда; неверен
    ja: では?ない; じゃない; ではありません; ではなく; でない; でなく; 間違い; 誤り; 不正解; 除外; 不適切
    ko: 아니; 아닌; 아닙니다; 않; 틀렸; 틀린; 틀립; 오답; 제외; 잘못
    pl: nie; ani; błędn\w*; niepoprawn\w*; żadn\w*
    tr: değil\w*; yanlış\w*; hiçbiri; ne
    ar: ليس; ليست; لا; خاطئ\w*; خطأ; غير
    hi: नहीं; गलत; ग़लत
    vi: không; sai
    id: bukan; tidak; salah
    sv: inte; fel; varken; ingen
""")
"""Words that deny what they are said of."""

RETRACTING = read_table(r"""
    en: scratch that; i was wrong; i made a mistake; that['’]?s (?:wrong|incorrect|not right|not correct);
        that is (?:wrong|incorrect|not right|not correct);
        that (?:was|can['’]?t be|cannot be) (?:wrong|right|correct); correction; i take (?:it|that) back;
        let me (?:correct|reconsider|recheck); my mistake; strike that; i retract;
        this is (?:wrong|incorrect|not right); apologies; i misread
    zh: 不对; 我错了; 更正; 重新考虑; 搞错了; 有误
    de: korrektur; das ist falsch; das stimmt nicht; ich habe mich geirrt
    fr: correction; c['’]est faux; je me suis trompé
    es: corrección; eso es incorrecto; me equivoqué; está mal
    it: correzione; è sbagliato; mi sono sbagliato
    pt: correção; está errado; me enganei
    nl: correctie; dat is fout
    ru: исправление; это неверно; я ошибся
    ja: 訂正; 間違えました; 違います
    ko: 정정; 틀렸습니다
    pl: to błąd
    tr: düzeltme
    sv: rättelse
""")
"""Words that take back what was said before."""

SUPPOSING = read_list(r"""
    if; suppose; supposing; assuming; assume; were; had; whether; unless; either way; wenn; falls; ob; si;
    supposons; supongamos; se; supponiamo; suponha; als; stel; если; предположим; 如果; 假设; 倘若; 假如;
    もし; 만약; jeśli; gdyby; eğer; om; إذا; अगर; nếu; jika
""")
"""Words that make a supposition of the clause that they begin."""

WONDERING = read_list(r"""
    might; could(?! only); may; whether; unsure; not sure; cannot decide; can['’]t decide; tempting;
    könnte; pourrait; podría; potrebbe; poderia; kan zijn; может быть; 是否; 吗; 也许; 或许; かもしれ;
    か?どうか; 수도 있; olabilir; có thể; mungkin; kanske; być może
""")
"""Words that leave a statement open wherever they are in it."""

CERTAIN = read_list(r"""
    no doubt; without (?:a )?doubt; not only; no question; doubtless;
    cannot be anything (?:but|other than); can['’]?t be anything (?:but|other than); none other than;
    not surprisingly; nothing but; no other than; ohne zweifel; zweifellos; sans aucun doute; sans doute;
    sin duda; no hay duda; senza dubbio; sem dúvida; не сомневаюсь; без сомнения; несомненно; 毫无疑问;
    无疑; 間違いなく; 틀림없이; şüphesiz; ne peut être que; ne reste que; no puede ser (?:otra|más) que;
    non può che essere; nichts anderes als; не кто иной; 不外乎; 非常; 不过; 不仅; 差不多; 对不起; 无非;
    除此之外; without any doubt; not to worry; if not mistaken; if i(?:['’]m| am) not mistaken
""")
"""Phrases with a denying word that deny nothing."""

JOINTS = read_list(r"""
    and; or; und; oder; et; ou; y; o; e; или; и; 和; 或; 或者; と; または; か; or maybe; or perhaps;
    or possibly; and/or; as well as; and also; or else; nor; 및; 또는; och; eller; en; of; lub; i; veya;
    ve; atau; dan; hoặc; và; أو; و; या; और; 及; 与; oder auch; ou alors; plus; sowie; 、; ni; né; noch;
    nem; ни
""")
"""Words that join two options into one statement."""

CONTINUING = read_list(r"""
    because; since; as; is; was; for; due; and; or; but; which; it; has; seems; with; would; must; should;
    can; could; fits; matches; not; rather; instead; given; so; if; by; that; in; on; here; therefore;
    where; while; from; at; only; i; wins; will; works; does; looks; appears; there; cannot; isn; then;
    unless; though; however; weil; da; denn; ist; und; oder; parce; car; est; porque; ya; puesto; es;
    pois; perché; poiché; è; é; omdat; потому; так; что; является; как; a; per; por; dans; nicht; pas; no;
    non; não; n; neither; über; richtig; korrekt; sein; stimmt; passt; ne; está; lub; bo; ponieważ; çünkü;
    doğru; değil; för; eftersom; är; want; via; the; are; according; based; again; final; under; after;
    too; indeed; being; out; karena; vì; benar; đúng; seria; sería; serait; wäre; верен; верно; неверен;
    неверно; convient; scheidet; jest; nie; et; ou; y; o; e; и; или; а; не; şıkkı; seçeneği; fits; makes;
    best; gives; follows; contradicts; fails; all; when; without; like; corresponds
""")
"""Words that may follow a chosen letter. Any other word makes "A" an article."""

PAUSING = read_list(r"""
    wait; hmm; no; actually; on second thought; on reflection; hold on; or rather; sorry; 等等; 不;
    moment; halt; nein; attendez; attends; non; espera; no; aspetta; espere; não; wacht; nee; подождите;
    стоп; нет; 待って; いや; いえ; 잠깐; 아니; chwila; nie; bekle; hayır; vänta; nej; correction
""")
"""Words after which another conclusion replaces what was stated before."""
