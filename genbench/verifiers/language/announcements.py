"""The words with which answers are announced, by language.

The first tables are about options, which are single letters: their words are read only next to one. The last
ones announce any answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from genbench.verifiers.language.word_lists import read_list, read_table

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
    en: statements?; options?; choices?; letters?; alternative
    zh: 选项; 選項; 第?项
    de: aussage; option; buchstabe; auswahl; möglichkeit
    fr: affirmation; énoncé; option; choix; lettre; proposition
    es: afirmación; opción; opcion; letra; alternativa; inciso
    it: affermazione; opzione; lettera; alternativa
    pt: afirmação; opção; opcao; alternativa; letra
    nl: optie; keuze
    ru: утверждение; вариант; вариантом; вариантов; буква; пункт
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
    en: lock(?:ing|ed)? in; prefer(?:s|red)?; (?:would|['’]d|will|['’]ll) take; rank; circle(?:d|s)?;
        (?:you |we |i )(?:want|need); tick(?:ed)?; happy with; confident in;
        lean(?:s|ing)?(?: strongly)? (?:towards?|to); i (?:now )?mean(?:t)?;
        (?:i|we|i['’]d) (?:suspect|reckon|suppose|imagine|figure|assume|presume|say|vote|answer);
        choos(?:e|es|ing); chose; select(?:s|ed|ing)?; pick(?:s|ed|ing)?(?: out)?; go(?:es|ing)? with;
        went with;
        go(?:ing)? for; opt(?:ing|ed)? for; settl(?:e|ed|ing) (?:on|for); vot(?:e|ing)(?: for)?;
        leaning towards?;
        mark(?:ing)?; bubble in; fill in;
        point(?:s|ed|ing)? (?:clearly |strongly |us )*(?:to|towards?|at); bet(?:ting)? on;
        supports?; favou?rs?; suggests?; indicates?; meant?; put(?:ting)?(?: down)?;
        answer(?:ed|ing)? with; stick(?:ing)? with; agrees? with; stay(?:ing)? with; lands? on;
        narrows? (?:it )?down to; comes? down to; submit; conclude(?:s|d)?; correct one is; right one is;
        best fit is; best match is; pick is; money on; finali[sz]e(?: on)?
    zh: 选择; 選擇; 应选; 應選; 应该选; 故选; 故選; 所以选; 因此选; 选; 選
    de: bleibe bei; kreuze; entspricht;
        (?:mich|uns) (?:\w+ )?für; halte; bevorzuge; ich meine?; wähle; nehme; entscheide mich für;
        tippe auf; bleibt nur; bleibt;
        würde sagen;
        plädiere für; würde wählen; nehme an
    fr: coche; correspond à(?: la)?; répond(?:re|s|rais);
        préfère; préférerais; je voulais dire; je veux dire; choisit; choisirait; sélectionne; choisis;
        choisirais; je prends;
        j'opte pour; opte pour; il faut (?:choisir|cocher|retenir|sélectionner|prendre); penche pour;
        retiens; je vote pour
    es: corresponde a(?: la)?; hay que (?:marcar|elegir|escoger|seleccionar);
        debemos (?:marcar|elegir|escoger);
        apunta a;
        me inclino por; prefiero; preferiría; quise decir; quiero decir; elijo; escojo; elegiría;
        selecciono;
        me quedo con;
        marco; marcaría;
        diría(?: que(?: es)?)?; opto por; voto por; optaría por
    it: scelgo; sceglierei; seleziono; opto per; direi(?: che)?; voto per; penso sia; credo sia;
        credo che sia; penso che sia; punto su
    pt: escolho; seleciono; marco; marcaria; fico com; opto por; escolheria; diria(?: que(?: é)?)?;
        voto (?:na|em); acho que é
    nl: kies; ga voor; zou zeggen; denk dat het
    ru: выбираю; выберу; выбираем; выбрал; остаётся(?: только)?; остается(?: только)?;
        подходит(?: только| лишь)?; верно(?: только| лишь)?; склоняюсь к; сказал бы
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
    en: only (?:fits|matches|suits|describes|applies to|works for); namely;
        (?:hold|rule|find|conclude|show|mean|follow)s? that;
        (?:numbers?|calculations?|data|result|this|that|which) gives?; says?; dictates?; yields?; means?;
        impl(?:y|ies); requires?; (?:money|bet)(?: is|['’]s) on; speaks? for; settles (?:it|on); singles out;
        (?:looks|seems|sounds|feels) like; now; edit(?:ed)?; therefore; thus; so; hence; ergo; consequently;
        accordingly; then; overall; finally; in conclusion; conclusion; in short; in summary; result; final;
        final choice; my (?:final )?(?:choice|guess|pick|vote); final letter; which is; that is; that's;
        it's; it is; this is; it['’]s got to be; it (?:has|have|had|needs) to be; (?:has|have|got) to be;
        (?:must|should|would|will|'d|to|can only) be; that would make it; makes it; make it; makes?; making;
        leav(?:es|ing)(?: us)?(?: only)?(?: just)?(?: with)?; left with; only;
        i(?:['’](?:d|ll)| would| will)? say; guess; choice; pick; vote; selection;
        to (?:sum(?: it)? up|summari[sz]e|conclude|recap); all in all; in sum; ultimately; verdict;
        answering; i (?:mean|meant); that would be; i think; i believe; i guess; correct; right; we have;
        we choose; (?:get|got|obtain|obtained|reach|reached); arrived? at; ends? up (?:with|at);
        gives(?: us)?; match(?:es|ing)?; correspond(?:s|ing)? to; is; was; are; be; definitely;
        wait; actually;
        rather; instead; no; but; i mean; correction; sorry; hmm; ok; okay;
        by (?:process of )?(?:elimination|exclusion); on (?:second thought|reflection); make (?:that|it);
        ruling out the (?:others|rest); said
    zh: 抱歉; 对不起; 看来(?:是)?; 因此; 所以; 故; 综上; 是; 为; 應該是; 应该是; 就是; 最终; 而是; 那就是;
        只剩; 只剩下; 剩下; 仅剩; 等等; 不对; 哦; 更准确地说
    de: ergibt; führt zu; eher; lieber; (?:meiner|unserer) meinung nach; meines erachtens; darum;
        spricht für; fällt auf;
        handelt sich um;
        entschuldigung; verzeihung; also; daher; somit; folglich; demnach; deshalb; ist es; es ist; ist;
        sondern; das ist; wäre; zusammenfassend; zusammengefasst; insgesamt; schlussfolgerung; fazit;
        per ausschluss; würde ich sagen; würde; würde ich; nein; moment; doch; vielmehr; genauer;
        muss es sein; damit; ergebnis; richtig ist; richtig; korrekt ist; muss; nur
    fr: d['’]où; reste; on dirait; semble être; pardon; désolé; donc; ainsi; par conséquent;
        c'est(?: donc)?;
        c’est(?: donc)?; est; il s'agit de; mais; ce doit être; ce sera; conclusion; il reste;
        il ne reste que; non; attendez; attends; plutôt; en fait; enfin; par élimination; en résumé;
        en somme; finalement; au final; bref; je dirais; doit être
    es: se trata de(?: la)?; de ahí que sea(?: la)?; parece(?: ser)?; perdón; perdona; disculpa; disculpe;
        por (?:lo )?tanto; entonces; así que; es; sería; debe ser; tiene que ser; sino; en conclusión;
        conclusión; la correcta es; queda; solo queda; creo que es; espera; espere; mejor dicho;
        en realidad;
        más bien; por eliminación; por descarte; en resumen; en definitiva; finalmente; al final
    it: si tratta d[ei]ll?a?; si tratta di; ne segue che è; sembra(?: essere)?; scusa; scusate; scusi;
        quindi; dunque; perciò; pertanto; è; sarebbe; deve essere; ma; bensì; in conclusione; resta; rimane;
        la corretta è; no; anzi; aspetta; aspetti; in realtà; piuttosto; per esclusione; in sintesi;
        in definitiva; alla fine; infine
    pt: trata-se d[aeo]; daí a resposta; parece(?: ser)?; desculpe; desculpa; perdão; portanto; então; logo;
        assim; é(?: a)?; seria(?: a)?; deve ser(?: a)?; mas(?: sim)?; em conclusão; conclusão; resta(?: a)?;
        a correta é(?: a)?; só pode ser(?: a)?; sobra; não; espere; espera; aliás; na verdade; ou melhor;
        por eliminação; em resumo; enfim; por fim; no final
    nl: dus; daarom; het is; is; moet zijn; maar; kortom; concluderend; uiteindelijk
    ru: верен; верна; речь идёт о; выбор —; похоже(?: на)?; извините; простите; кажется; следовательно;
        вкратце; короче; методом исключения; нет; подождите; стоп; точнее; вернее; на самом деле; в итоге;
        в общем; значит; итак; таким образом; это; поэтому; а; верно; правильно; является; будет; думаю;
        вывод; верный; правильный; должно быть
    ja: すみません; 失礼; したがって; よって; ゆえに; つまり; だから; は; 結論; なので; ので; が; いや; いえ;
        訂正; 正しくは
    ko: 죄송합니다; 아; 따라서; 그러므로; 그래서; 즉; 은; 는; 이; 가; 결론; 아니라; 결국
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
    en: (?:a )?(?:combination|mix(?:ture)?) of; either; both; the; to; be; for sure; surely; clearly;
        definitely; certainly; indeed; simply; probably; likely;
        most likely; actually; obviously; then; therefore; thus; hence; just; either of course; of course;
        without a doubt; without doubt; no doubt; undoubtedly; correct; right; best; only; final; one;
        labell?ed; with; given by; in; going; i think; i believe; i would say; i'd say; that; here; again;
        really; still; say; it; it's; is; was; would; should; must; has; will; rather; choose; as follows;
        therefore,; by; this; equal to; most; undeniably; answer; found in
    zh: 应该; 應該; 就; 是; 为; 為; 一定; 显然; 很可能; 最可能; 极可能; 正确; 的; 应; 选择; 选
    de: aber; jedoch; dennoch; daher; also; somit; wahrscheinlich; eindeutig; sicher; sicherlich; die; der;
        hier; natürlich;
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
    ko: 아마; 분명히; 확실히; 바로; 번
    pl: prawdopodobnie; oczywiście; zatem; więc
    tr: kesinlikle; büyük ihtimalle
    sv: troligen; alltså; definitivt
    vi: là; đúng
    id: adalah; tentu
""")
"""Words that may come between an announcement and the option."""

COPULAS = read_table(r"""
    en: is; are; was; would be; should be; must be; will be; has to be; [’']s; being; stays; remains
    zh: 是; 为; 為; 应为; 選; 选
    de: ist; sei; lautet; sind; wäre; muss; heißt
    fr: est; sont; soit; serait; doit être; sera
    es: es; son; sea; sería; debe ser; será
    it: è; sono; sia; sarebbe; deve essere; sarà
    pt: é; são; seja; seria; deve ser; será
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

QUALITIES = (
    r"(?:accurate|appropriate|apt|likely|plausible|probable|correct|precise|complete|suitable|reasonable|fitting"
    r"|specific|consistent|convincing|relevant|general|compelling|sensible|direct|comprehensive|promising|logical"
    r"|credible|supported|defensible|natural|good|right|true|valid|attractive|persuasive|justified|helpful|well"
    r"|clearly)"
)
"""What an answer is praised for: "B is more plausible". "B is more massive" says nothing of the answer."""

CONFIRMING = read_table(rf"""
    en: follows(?=[.!,]|$); passes(?=[.!,]|$); to be (?:the )?(?:correct|right|best|answer|most);

        (?:passes|meets|fulfils|fulfills|survives|ticks) (?:all|every|both|each|them all); gets my vote;
        agrees (?:best |most |well )?with; suits; beats (?:the|all|every); is the survivor;
        is in(?=[.!]);
        comes? out (?:on top|ahead|first); is the (?:letter|option|one|choice) to \w+;
        is all that(?: is|['’]s) left; holds; stands(?! for| in); yes; prevails; survives; is the way to go;
        is (?:well |clearly |fully )?(?:supported|implied|confirmed|justified|backed);
        is (?:consistent|stated|indicated|entailed); makes (?:the most |more |perfect )?sense; fits; works;
        (?:is|seems|looks|sounds)(?: to be)? (?:best\b|(?:most|more|very|quite) (?:\w+ly )?(?:{QUALITIES}));
        (?:is|seems|looks|sounds)(?: the| a)? (?:likely|probable|plausible|accurate|logical|fitting);
        is (?:appropriate|reasonable|suitable|sensible);
        the (?:right|correct|best) (?:choice|answer|option);
        is correct; is right; must be (?:correct|right|the); is true;
        (?:would|should|will|has to|seems to|appears to) be (?:the )?(?:correct|right|best|answer);
        seems (?:right|correct|best); fits (?:best|perfectly); it must be; for sure; is best; matches;
        works best; is it; is the one; is the (?:most|only|likeliest|winner); stands out;
        remains?(?! (?:wrong|false)); is (?:better|preferable|valid|spot on); satisfies; is left;
        (?:the|my) (?:answer|only (?:possibility|option|choice|answer)); applies; is definitely;
        is clearly (?:the|correct|right); wins; ✓; ✅; is what(?! (?:most|many|people|students|some));
        is therefore; is indeed; is undoubtedly;
        is certainly; is obviously; final answer; it is(?! (?:wrong|false|not|incorrect|too|un\w+|im\w+))
    zh: (?:选项|項|项)?(?:才)?是?(?:正确|最佳|答案|最合理|最恰当|合适
          |符合); 是正确; 正确; 是正確; 正確; 是对的;
        对; 符合; 是答案; 是最佳; 最合适; 最符合; 为正确
    de: die (?:richtige |korrekte |gesuchte )?(?:antwort|lösung);
        ist am (?:besten|wahrscheinlichsten|plausibelsten|passendsten); ergibt sinn; ist richtig;
        ist die richtige; ist korrekt; ist die korrekte; stimmt; ist die antwort; passt; trifft zu;
        bleibt(?: übrig)?; ist es; kommt (?:als einzige )?infrage; die richtige; die korrekte
    fr: (?:remplit|satisfait) (?:toutes|les deux); est la plus (?:probable|plausible|appropriée);
        semble (?:correcte?|juste); est correct;
        est correcte;
        est la bonne; est juste; est exacte; est la réponse; convient; reste; est (?:exact|vrai|vraie)
    es: (?:cumple|satisface) (?:todas|ambas|las dos); es la más (?:probable|adecuada|apropiada);
        parece (?:correcta|correcto); encaja; es correcta;
        es la correcta; es la respuesta; es correcto; es el correcto; es verdadera; queda
    it: è la più (?:probabile|adatta|appropriata); sembra corretta; è corretta; è quella corretta;
        è la risposta; è giusta; è quella giusta; è esatta; rimane; va bene
    pt: é a mais (?:provável|adequada|apropriada); parece correta; está correta; é a correta; é a resposta;
        está certa; é a certa; é verdadeira; resta
    nl: is juist; is correct; is het juiste; is goed
    ru: наиболее (?:вероятен|верно|подходит); верен; верна; верно; подходит; остаётся; остается; правильный;
        правильно; является правильн; — правильный; - правильный
    ja: で間違いありません; で間違いない; に決め; にし; でしょう; が最適; が妥当; が該当; が当てはま; が正解;
        が正しい; が答え; を選; です; だ; となる; になります; が適切; が最も
    ko: [가이] 유일; [를을] 고[르릅른]; [를을] 정답; [가이] 타당; 입니다; 이다; 가 정답; 이 정답; 가 맞;
        이 맞; 를 선택; 을 선택; 예요; 이에요; 가 옳; 번(?:입니다|이다|이에요)?;
        (?:이)?라고 (?:생각|봅|판단); 로 하겠; 를 고르; 을 고르; 가 적절; 가 가장
    pl: jest poprawn; jest prawidłow
    tr: ['’]?d[iıuü]r; doğru; şıkkı; seçeneği
    ar: صحيح; هي الإجابة; هو الصحيح
    hi: है; सही
    vi: là đúng; đúng; là đáp án
    id: benar; adalah jawaban
    sv: är rätt; är korrekt; stämmer
""")
"""Words that follow the chosen option: "(B) is correct"."""

JOINTS = read_list(r"""
    (?:perhaps|maybe|possibly),? or; or (?:was|is) it; but also; sondern auch; mais aussi; sino también;
        soit;
    ou bien; sea; maybe; perhaps; possibly; vielleicht; peut-être;
    quizás?; tal vez;
    and; or; und; oder; et; ou; y; o; e; или; и; 和; 或; 或者; と; または; か; or maybe; or perhaps;
    or possibly; and/or; as well as; and also; or else; nor; 및; 또는; och; eller; en; of; lub; i; veya;
    ve; atau; dan; hoặc; và; أو; و; या; और; 及; 与; oder auch; ou alors; plus; sowie; 、; ni; né; noch;
    nem; ни
""")
"""Words that join two options into one statement."""

CONTINUING = read_list(r"""
    alone; first; over; als; que; son; sont; sind; remains; holds; stands; satisfies; yes; wins; applies;
    prevails; survives; suits; because; since; as; is;
    was; for; due; and; or; but; which; it; has; seems; with; would; must; should; can; could; fits;
        matches;
    not; rather; instead; given; so; if; by; that; in; on; here; therefore; where; while; from; at; only; i;
    will; works; does; looks; appears; there; cannot; isn; then; unless; though; however; weil; da; denn;
    ist; und; oder; parce; car; est; porque; ya; puesto; es; pois; perché; poiché; è; é; omdat; потому; так;
    что; является; как; a; per; por; dans; nicht; pas; no; non; não; n; neither; über; richtig; korrekt;
    sein; entscheiden; entschieden; aussprechen; stimmt; passt; ne; está; lub; bo; ponieważ; çünkü; doğru;
    değil; för; eftersom; är; want; via; the;
    are; according; based; again; final; under; after; too; indeed; being; out; karena; vì; benar; đúng;
    seria; sería; serait; wäre; sagen; wählen; nehmen; tippen; верен; верно; неверен; неверно; convient;
    scheidet; jest; nie; et; ou; y; o; e; и; или; а; не; şıkkı; seçeneği; makes; best; gives; follows;
    passes; meets; fulfils; fulfills; explains; accounts; describes; matched; contradicts; fails; all; when;
        without; like; corresponds
""")
"""Words that may follow a chosen letter. Any other word makes "A" an article."""


ANSWER_NOUNS = read_table(r"""
    en: answer; answers
    zh: 答案; 答
    de: antwort; lösung
    fr: réponse
    es: respuesta
    it: risposta
    pt: resposta
    nl: antwoord
    ru: ответ; ответом
    ja: 答え; 正解; 解答
    ko: 정답; 답
    pl: odpowiedź
    tr: cevap; yanıt
    ar: الإجابة; الجواب
    hi: उत्तर
    vi: đáp án
    id: jawaban; jawabannya
    sv: svar; svaret
""")
"""Words for "answer" that a statement of any kind follows, after a colon or a form of "to be".

They are fewer than ANSWERS: "solution" and "verdict" announce an option, but often only begin a derivation.
"""

_STATING = read_table(r"""
    en: is; are; was; would be; should be; must be; will be
    zh: 是; 为; 為
    de: ist; lautet; beträgt; sind
    fr: est; sont
    es: es; son
    it: è; sono
    pt: é; são
    nl: is; luidt
    ru: —; –; это; равен
    pl: brzmi
    vi: là
    id: adalah
    sv: är; blir
""")
"""Forms of "to be" between such a noun and what is stated."""

_ADVERBS = read_table(r"""
    en: therefore; thus; hence; then; clearly; definitely; certainly; indeed; simply; probably; likely;
        most likely; actually; obviously
    zh: 就; 应该; 應該
    de: daher; also; somit; wahrscheinlich
    fr: donc; probablement
    es: por tanto; entonces; probablemente
    it: quindi; dunque; probabilmente
    pt: portanto; então; provavelmente
""")
"""Words that may come between the copula and what is stated: "the answer is therefore 5"."""

CONNECTIVES = read_table(r"""
    en: and; or
    zh: 和; 或
    de: und; oder
    fr: et; ou
    es: y; o
    it: e; o
    pt: e; ou
    nl: en; of
    ru: и; или
    sv: och; eller
""")
"""What joins two parts of one answer."""


_DENYING = r"not|no|non|não|nicht|niet|не|n['’]est|isn['’]t|inte|nie|bukan|không"
"""Words that must not be passed over on the way to a copula: "la respuesta no es 5" announces nothing."""


def alternation(table: Mapping[str, tuple[str, ...]]) -> str:
    """Return a regex alternation of all words of a table, longest first."""
    words = {word for group in table.values() for word in group}
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


def announcement() -> str:
    """Return the regex of what comes before a stated answer.

    Examples are ``Final answer:``, ``The answer is``, ``答案：``, ``"answer":``, ``<answer>`` and ``####``.
    Words may come between the noun and the colon or copula ("the answer to the question is"), but no end of
    a sentence. The regex needs the flags IGNORECASE and MULTILINE.
    """
    noun = rf"(?<![A-Za-z])(?:{alternation(ANSWER_NOUNS)})(?![A-Za-z])[\"']?"
    copula = rf"(?:[*_]*[ \t]+(?:{alternation(_STATING)})(?!\w)|[是为為はが은는])"
    # A mark is no part of a word: else a text of stars can be told apart in exponentially many ways.
    word = r"[^\s.:：=,;*_]{1,80}"
    between = rf"(?:[ \t*_]++(?!(?:is|are|{_DENYING})(?!\w)){word}){{0,8}}?"
    mark = r"[ \t*_]*[:：]"
    formula = r"[ \t*_]*\s*(?=\$|\\\(|\\\[)"
    said = rf"{noun}(?:[ \t]*=(?!=)|{formula}|{between}(?:{mark}|{copula}(?:{mark})?))"
    adverbs = rf"(?:[ \t*_,]*(?:{alternation(_ADVERBS)})\b,?)*"
    return rf"(?:{said}{adverbs}|<answer>|^[ \t]*####)[ \t*_]*"
