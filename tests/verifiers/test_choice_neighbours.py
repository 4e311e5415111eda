"""More endings than those of the first list, about four other sets of options, in ten languages.

They were written before they were tried, so that the list of words is held to what people write.
"""

from __future__ import annotations

import pytest

from genbench.types import Answer, Case, SampleId
from genbench.verifiers.choice import ChoiceVerifier

VERIFIER = ChoiceVerifier()
LEAST_READ = 0.97
OPTIONS = {
    "A": ("momentum is conserved", "an inelastic collision", "12 N", "7 m/s", "none of these"),
    "B": ("Paris", "Lyon", "Nice", "Lille"),
    "C": ("12 N", "an inelastic collision", "momentum is conserved", "7 m/s", "none of these"),
    "D": ("mitosis", "osmosis", "diffusion", "photosynthesis"),
}

# A line break inside an ending is written as \\n.
CHOSEN = {
    "A": r"""
Bet: A
Go with A!
It's gotta be A.
I'm 90% sure it's A.
My money is on A.
A it is!
A is the way to go.
A is what the question asks for.
A is supported by the text.
The passage supports A.
The text clearly says A.
Per the rule above, A.
By the definition, A.
From the table: A
Using Newton's third law, A.
Ergo A.
Q.E.D. A
Answer (final): A
Answer, final: A
The answer, then, is A.
The answer, I believe, is A.
The answer - A.
The answer? A.
The correct response is A.
Response: A
Correct response: (A)
The response is A.
The answer choice is A.
The answer is choice A.
The answer is letter A.
It is letter A.
First option (A).
The first option, A.
No other option fits, so A.
Only A remains after elimination.
After elimination only A remains.
B, C and D fail; A holds.
B no, C no, D no, A yes.
Darum A.
Das richtige Ergebnis ist A.
Somit: A
Alles spricht für A.
C'est donc A.
D'où A.
Ainsi, la réponse est A.
La clave es A.
De ahí que sea A.
Luego, A.
Ne segue che è A.
Di conseguenza, A.
Dunque A.
Daí a resposta A.
Por isso, A.
综合来看，A是正确的。
结论：A
最佳答案：A
故正确答案为A
以上より、Aが正解。
結論として、Aです。
Aに決めます。
결론적으로 A입니다.
답은 A번입니다.
결국 A이다.
В итоге A.
Отсюда следует, что верен A.
Стало быть, A.
""",
    "B": r"""
Everything considered, it is B.
When all is said and done, B.
I'm inclined to say B.
I'd be happy with B.
I'd circle B.
I would mark B on the sheet.
My instinct says B.
My gut says B.
The data favour B.
Physics dictates B.
The numbers give B.
Comparison yields B.
That settles it: B.
That points to B.
That narrows it to B.
That singles out B.
There is only one option left: B.
There's only B.
What remains is B.
What we want is B.
What fits is B.
You should choose B.
You want B.
You need B.
One should pick B.
We are left with B.
We end up with B.
We're left with only B.
B is left standing.
B is the survivor.
B, final.
B, definitely.
B, no doubt about it.
B, not A or C.
B (not C).
B over C.
B rather than A.
B instead of A.
B beats the others.
B suits best.
B agrees with the text.
B agrees best with the observations.
A, C and D are out. B is in.
A, C, D: no. B: yes.
C and D are too hot, A too large; hence B.
Not A but B.
It was never A; B it is.
Correct letter: B
Letter: B
Option: B
Pick: B
Verdict: B
Output: B
Final: (B)
[Answer] B
[ANSWER]: B
Answer: B.)
Answer: B :)
Answer: _B_
Answer: ~~A~~ B
Es ist eindeutig B.
Meiner Meinung nach B.
Die Wahl fällt auf B.
Korrekte Antwort: B
Bleibt B.
À mon avis, B.
Le bon choix est B.
Mon choix : B
On choisit B.
Reste B.
A mi juicio, B.
La elección correcta es B.
Mi respuesta es B.
Se trata de la B.
Queda B.
Secondo me, B.
La scelta corretta è B.
La mia risposta è B.
Si tratta di B.
Na minha opinião, B.
A escolha correta é B.
Minha resposta é B.
Trata-se da B.
我会选B。
应该是B。
因此B是答案。
毫无疑问，答案是B。
其他都错，只有B对。
Bで間違いありません。
私の答えはBです。
結局Bです。
Bにします。
제 생각에는 B입니다.
B가 유일한 답입니다.
B로 하겠습니다.
그래서 답은 B예요.
По-моему, B.
Мой выбор — B.
Правильный выбор: B.
Речь идёт о B.
Остальные неверны, верен B.
Consequently B is what we want.
It follows that B is correct.
Everything points to B.
All signs point towards B.
B stands out as the best option.
The evidence supports B.
That makes B the answer.
That makes B the only possibility.
Which brings us to B.
Only B satisfies all the constraints.
Only option B works.
Only B is consistent with the data.
B is the one.
B would be my answer.
B is my final answer.
B is what I'd choose.
B is the most plausible.
B remains.
So B remains.
So only B is left.
The winner is B.
I'm going to say B.
I'll say B.
I'll choose B.
I'll pick (B).
I'd pick B.
I'd choose B.
I'd answer B.
I'd put B.
My vote goes to B.
Guess: B
Choice: B
Selected option: B
Selected answer: B
Chosen answer: B
Correct: B
Correct answer - (B)
Correct choice: (B) Lyon
The right answer: B
Right answer: B.
Best answer: B
Answer choice: B
Answer (B)
Answer [B]
Answer: **(B) Lyon**
Answer: \boxed{\text{B}}
The final choice is B.
The solution is B.
Solution: B
Result: B
Conclusion: B
In conclusion, the answer is option B.
To conclude, B.
To sum up: B.
Overall, B is the best answer.
Hence (B).
Hence, option (B) is correct.
∴ B
∴ The answer is B
=> B
→ B
-> B
B ✔
✅ B
The answer is \(B\).
The answer is $\mathbf{B}$.
The answer is "B".
The answer is 'B'.
The answer is `B`.
The answer is <b>B</b>.
<answer>B</answer>
<answer> (B) </answer>
{"answer": "B"}
{'answer': 'B'}
```json\n{"answer": "B"}\n```
The correct option is therefore (B), not (A).
It's definitely not A; B.
It is not A, C or D, so it is B.
Not C, not D, not A. B.
A seemed right at first, but B is correct.
At first I thought A, but the answer is B.
Although A is tempting, the correct answer is B.
While A might be plausible, B is better.
I was going to say A, but it's B.
The answer is A. Wait, no: the answer is B.
The answer is A. Actually, it's B.
A... no, B.
A? No. B.
Answer: A\nCorrection: B
Answer: A. On second thought, B.
I first chose A. Correction: the answer is B.
The answer is A. Hmm, that's wrong. The answer is B.
Sorry, I meant B.
I mean B.
Make that B.
Scratch that, it's B.
It can only be B.
It can't be anything but B.
There is no doubt that B is correct.
None other than B.
B - no question.
B, obviously.
B, of course.
B, I think.
B I think
Probably B.
Most likely B.
Likely B.
Definitely B.
Certainly B.
Surely B.
Clearly B.
B, hands down.
b
b.
(b)
b)
answer is b
The answer is b.
answer: b
option b
Also ist es B.
Damit bleibt B.
Es bleibt nur B übrig.
Ich wähle B.
Ich entscheide mich für B.
Ich würde B sagen.
Meine Antwort: B
Meine Antwort lautet B.
Richtig ist B.
Richtige Antwort: B
Die richtige Lösung ist B.
B trifft zu.
B ist die richtige Wahl.
Nicht A, sondern B.
A ist falsch, B ist richtig.
Die Antwort ist A. Moment, nein, B.
Zusammenfassend: B
Folglich ist B korrekt.
Die Antwort ist B, nicht A.
Antwort B
Antwort: Option B
Es kann nur B sein.
Es muss B sein.
Lösung: B
La réponse est B.
La bonne réponse est la B.
La réponse correcte est B.
Réponse : B
Réponse B
Donc, B.
Il s'agit de B.
C'est B.
C'est la réponse B.
Je choisis B.
Je dirais B.
Ce n'est pas A, c'est B.
Ce n'est pas A mais B.
Seule B convient.
Seule la réponse B est correcte.
L'option B est la bonne.
Il ne reste que B.
La réponse est A. Non, attendez, B.
Par élimination, B.
B est juste.
La respuesta es B.
La respuesta correcta es la B.
La opción correcta es B.
Respuesta: B
Respuesta B
Por lo tanto, B.
Por eso elijo B.
Es la B.
Es B.
Entonces es B.
Creo que es la B.
No es A, es B.
No es A sino B.
Solo B es correcta.
La correcta es la B.
Me quedo con la B.
La respuesta es A. No, espera, es B.
Descartando A, C y D, queda B.
Diría que B.
La alternativa B es la correcta.
La risposta è B.
La risposta corretta è la B.
Risposta: B
Risposta B
Quindi B.
È la B.
È B.
L'opzione corretta è B.
Direi B.
Scelgo la B.
Non è A, è B.
Non A ma B.
Solo B è corretta.
La risposta giusta è B.
Rimane B.
La risposta è A. Anzi, no, B.
Credo che sia B.
A resposta é B.
A resposta correta é a B.
A resposta certa é B.
Resposta: B
Resposta: letra B
Letra B
Letra B.
Portanto, B.
Logo, a alternativa correta é B.
Alternativa B.
Gabarito: B
Não é A, é B.
Não é a A, mas a B.
Só a B está correta.
Eu diria B.
Fico com a B.
A resposta é A. Não, espere, é B.
Acho que é a B.
答案是B。
答案：B
答案为B
答案选B
正确答案是B。
正确答案：B
正确选项是B
正确选项为 B。
选B
选择B
我选B
我认为是B
我认为答案是B。
因此选B。
所以答案是B
所以选B
故选B
故答案为B
综上，选B
综上所述，正确答案是B。
应该选B
应选B
B正确
B是正确的
B项正确
B选项正确
B对
不是A，是B
不是A而是B
A错，B对
排除A、C、D，选B
答案是A。不对，应该是B。
最终答案：B
最终答案是 B
只有B符合
答案应为B。
答案就是B
显然是B
答えはBです。
答え：B
答えはB
正解はBです。
正解：B
したがって、Bです。
よってB。
Bが正しい。
Bが正解です。
Bを選びます。
AではなくBです。
Aは間違いで、Bが正しい。
選択肢Bです。
正しいのはBです。
正しい選択肢はBです。
Bだと思います。
答えはAです。いや、Bです。
最終的な答え: B
정답은 B입니다.
정답: B
답은 B입니다.
답: B
따라서 B입니다.
따라서 정답은 B이다.
B가 정답입니다.
B가 맞습니다.
B를 선택합니다.
A가 아니라 B입니다.
B번
정답은 B번입니다.
올바른 답은 B입니다.
저는 B라고 생각합니다.
정답은 A입니다. 아니, B입니다.
최종 답: B
Ответ: B
Ответ: B.
Ответ — B
Правильный ответ — B.
Правильный вариант — B.
Правильный вариант: B
Верный вариант B.
Выбираю B.
Я думаю, что это B.
Следовательно, B.
Значит, ответ B.
Не A, а B.
B верно.
B — верный ответ.
Остаётся B.
Остаётся только B.
Ответ A. Нет, B.
Верно только B.
Подходит только B.
Подходит B.
""",
    "C": r"""
Therefore the correct statement is C.
So the statement that holds is C.
Thus, the option which fits is C.
This corresponds to option C.
This matches choice C.
That is option C.
That's (C).
Which is option C.
We conclude that C is correct.
We conclude C.
I conclude that the answer is C.
My conclusion: C
My final choice: C
Final choice: (C)
Final: C
FINAL ANSWER - C
*Answer*: C
__Answer__: C
## Answer\nC
**Answer**\n\nC
Answer:\n\n**C**
Answer:\nC) momentum is conserved
The best answer is C, momentum is conserved.
The answer is C - momentum is conserved.
The answer is C (momentum is conserved).
The answer must therefore be C.
The answer has to be (C).
The answer ought to be C.
The answer can only be C.
The answer here is C.
The answer seems to be C.
The answer appears to be C.
The answer would have to be C.
The answer that makes sense is C.
The one that makes sense is C.
The one I'd choose is C.
The one that fits is C.
Of these, C is correct.
Of the options, only C is true.
Among the given options, C is the best.
Given this, C is correct.
Given all this, I choose C.
After checking all the options, I choose C.
Having ruled out the rest, I choose C.
With A and B out, and D false, C is left.
A and B fail, D contradicts the law, so C.
It's C, since energy is lost.
It's C because the system is closed.
It is (C) momentum is conserved.
I'm fairly confident it's C.
I'm sure it is C.
I am certain that C is the answer.
I believe C is correct.
I think C is right.
I think C.
I would go for C.
I'd bet on C.
I vote C.
Gotta be C.
Must be C.
Has to be C.
Got C.
I got C.
I get C.
We get C.
C!
C.
C)
(C).
[C].
C: momentum is conserved
C, momentum is conserved
momentum is conserved
Momentum is conserved.
The answer is momentum is conserved.
\\boxed{C}
$\\boxed{\\text{C}}$
\\boxed{\\text{(C) momentum is conserved}}
\\boxed{\\mathrm{C}}
The answer is $\\boxed{C}$.
Not B. C.
Not B, C.
B is tempting but wrong; C is right.
B is wrong. C is right.
B would be wrong, hence C.
The answer isn't B, but C.
The answer is not B; it is C.
Rather than B, the answer is C.
Instead of B, choose C.
I initially chose B, but now I choose C.
I thought it was B, but it is C.
First I picked B. After rechecking, I pick C.
Answer: B. Wait. Answer: C
Answer: B\nCorrected answer: C
Correction: the answer is C, not B.
B. No wait, C.
B, no, C.
B - sorry, C.
The answer is B... no, C.
Die richtige Antwort ist C.
Somit ist C richtig.
Daher ist die Antwort C.
Ich denke, C ist richtig.
Ich glaube, es ist C.
Antwort: C) momentum is conserved
Endgültige Antwort: C
C ist korrekt, B nicht.
Nicht B, sondern C ist richtig.
Die Antwort ist B. Nein, C.
La bonne réponse : C
La réponse est donc C.
Je pense que c'est C.
Je crois que la réponse est C.
Réponse finale : C
C est correct, pas B.
C'est C et non B.
La réponse n'est pas B, c'est C.
La respuesta es la C.
Creo que la respuesta es C.
Respuesta final: C
La opción C es la correcta.
C es correcta, B no.
No es B, sino C.
Pienso que es C.
La risposta esatta è C.
Penso che la risposta sia C.
Risposta finale: C
La C è corretta.
Non è B, bensì C.
A resposta é a letra C.
Acredito que a resposta seja C.
Resposta final: C
A letra C está correta.
Não é B, mas sim C.
最终选择：C
我的答案是C
我的选择是C。
这道题选C。
本题答案为C。
本题选C
答案应当是C
答案肯定是C
答案是(C)
答案是 C，不是 B。
B不对，应选C。
C符合题意
正确的是C
正确的选项是C
因此，正确答案是 C。
答えはCだ。
正解は C です。
正しい答えはCです。
私はCを選びます。
Cが最も適切です。
Cが正しいです。
Bではなく、Cが正解です。
したがって、正解はCです。
답은 C이다.
정답은 C.
제 답은 C입니다.
C가 맞다.
C가 옳습니다.
정답은 B가 아니라 C입니다.
그러므로 정답은 C입니다.
따라서 C가 정답이다.
Правильный ответ: C.
Ответ: вариант C.
Мой ответ: C
Я выбираю вариант C.
Я считаю, что верен вариант C.
Ответ — C, а не B.
Не B, а C.
Итак, C.
Таким образом, C.
Верный ответ — C.
Окончательный ответ: C
""",
    "D": r"""
Looking at the options, D is correct.
Based on this, the answer is D.
Based on the above, option D.
As a result, the answer is D.
As such, D.
Accordingly, D is right.
For these reasons, D.
For that reason the answer is D.
Because of this, I'd go with D.
In the end, D.
In the end I choose D.
In summary, the correct answer is **D**.
Summing up: D
Bottom line: D
TL;DR: the answer is D.
In short: D.
So, final answer: D.
So the final answer is (D).
Final Answer: $D$
Final answer is D.
The final answer is: D
The final answer would be D.
My final answer would be D.
**Final answer**: (D) photosynthesis
The correct one is D.
The right one is D.
The right pick is D.
The proper choice is D.
The logical choice is D.
The obvious answer is D.
The only choice left is D.
The only answer that fits is D.
The only one that works is D.
The remaining option, D, is correct.
The last option, D, is correct.
The statement in D is true.
Statement D is correct.
Statement D.
Option D is the answer.
Option D is the only true statement.
Option D it is.
Option (D) fits best.
Choice D is right.
D is true.
D is the correct one.
D is the right one.
D must be the answer.
D must be it.
D has to be the answer.
D makes the most sense.
D makes sense.
D fits.
D works.
D seems most likely.
D looks right.
D is most appropriate.
D is therefore the answer.
D wins.
D then.
D (photosynthesis)
D -> photosynthesis
D – photosynthesis
**D** – because plants need light.
Photosynthesis (D)
Photosynthesis, so D.
photosynthesis, i.e. D
This is photosynthesis, option D.
This describes photosynthesis (D).
The process is photosynthesis, which is D.
It's photosynthesis. D.
That would be D.
That'd be D.
It would be D.
It'd be D.
It should be D.
It'll be D.
It will be D.
It appears to be D.
It seems D is correct.
It looks like D.
It looks like the answer is D.
Looks like D.
Seems like D.
Sounds like D.
I would answer D.
I'd answer (D).
I would select D.
I select D.
I'm choosing D.
I am choosing option D.
I'd lean towards D.
I'd have to say D.
I have to go with D.
I think the answer is D.
I think the correct answer is D.
I think it must be D.
I suspect D.
I reckon D.
I suppose D.
I assume it's D.
We choose D.
We select option D.
We pick D.
Let's choose D.
Choose D.
Pick D.
Select D.
Mark D.
Answer with D.
ANSWER: D.
Answer:D
answer=D
Answer\\n\\nD
Answer is: D
Ans: (D)
Ans) D
A: D
A) mitosis is wrong. D) photosynthesis is right.
A is incorrect, B is incorrect, C is incorrect, D is correct.
Eliminate A, B and C. D.
A, B and C are wrong, leaving D.
A, B, C are all wrong; D.
It isn't A, B or C, so D.
None of A, B, C work. So D.
Not A, not B, not C. So D.
I said C, but it's D.
I wrote C, I meant D.
C? No, D.
C is close, but D is better.
C would be close, but the answer is D.
The answer is C... wait, D.
The answer is C. Correction: D.
The answer is C - no, D.
Answer: C. Wait, I made a mistake. The answer is D.
Answer: C (edit: D)
Initially C, now D.
Strike that: D.
My bad, it's D.
On reflection, D.
Rethinking: D.
Es handelt sich um D.
Korrekt ist D.
Die Lösung ist D.
D ist die Antwort.
D passt am besten.
Ich nehme D.
Ich tippe auf D.
Die Antwort ist C. Nein, doch D.
Nicht C, D.
La réponse à choisir est D.
Il faut choisir D.
La réponse exacte est D.
D est la bonne réponse.
Je prends D.
La réponse est C. Pardon, D.
Es la opción D.
La respuesta es la opción D.
Elijo D.
La D.
D es la respuesta correcta.
La respuesta es C. Perdón, D.
La risposta è la D.
La soluzione è D.
D è la risposta corretta.
Opzione D.
La risposta è C. No, D.
A opção correta é D.
A resposta é D, não C.
D é a resposta correta.
Opção D.
A resposta é C. Desculpe, D.
答案选择D。
选项D正确。
选项D。
D选项是正确答案。
由此可知选D
可以确定答案是D
答案：D。光合作用
答案是C，不对，是D。
D。
答案はDです。
Dが答えです。
Dが最適です。
Dですね。
Cではない。Dです。
答えは、Dです。
정답은 D번이다.
D가 정답이다.
D입니다.
D를 고릅니다.
C는 틀렸고 D가 맞습니다.
Вариант D.
Ответ: D) фотосинтез
D правильный.
D является правильным ответом.
Думаю, D.
C неверно, D верно.
Ответ — C. Извините, D.
""",
}


def read(text: str, letter: str) -> str | None:
    """Return the letters that the verifier reads from a text."""
    reference = {"letter": letter, "options": OPTIONS[letter]}
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    found: str | None = VERIFIER.verify(case).detail.get("letter")
    return found


def endings(block: str) -> list[str]:
    return [
        line if "\\boxed" in line or "\\math" in line else line.replace("\\n", "\n")
        for line in block.split("\n")
        if line
    ]


@pytest.mark.parametrize("letter", CHOSEN)
@pytest.mark.parametrize(
    "before", ["", "Think of what each would mean.\n\n"], ids=["alone", "after a sentence"]
)
def test_endings_are_read_as_they_are_meant(letter: str, before: str) -> None:
    lines = endings(CHOSEN[letter])
    wrong = {line: found for line in lines if (found := read(before + line, letter)) != letter}
    assert len(wrong) <= (1 - LEAST_READ) * len(lines), wrong


def test_the_sets_are_large() -> None:
    assert sum(len(endings(block)) for block in CHOSEN.values()) >= 450
