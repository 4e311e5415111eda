"""Endings as people and models write them, in ten languages: the letter that each settles on."""

from __future__ import annotations

import pytest

from genbench.types import Answer, Case, SampleId
from genbench.verifiers.choice import ChoiceVerifier

VERIFIER = ChoiceVerifier()
OPTIONS = ["the red shift", "the blue shift", "no shift at all", "a shift of both"]
LEAST_READ = 0.97

ENGLISH = """
Therefore, B.
Thus B.
So it's B.
So, B.
I think it's B
I think it is B.
It has to be B.
It must be B.
It's got to be B.
This leaves B
This leaves us with B.
That leaves only B.
ans: B
Ans. B
Ans - B
Answer - B
Answer – B
Answer = B
Answer → B
Answer is B
Answer B
answer: (b)
The answer is for sure B, it can't be A
The answer is definitely B, not C.
The answer is B, not A.
The answer is B rather than A.
The answer isn't A, it's B.
The answer is not A but B.
It's not A, it's B.
Not A, so B.
A is wrong, so the answer is B.
Since A and C are wrong, the answer must be B.
A, C and D are incorrect. Therefore B.
Ruling out A, C and D, we are left with B.
We can eliminate A, C, and D, leaving B.
Eliminating the others leaves B.
By elimination, B.
By process of elimination, the answer is B.
Final answer: B
Final answer - B
FINAL ANSWER: B
**Final Answer: B**
### Final Answer: **B**
My final answer is B.
My answer is B.
My answer: B.
So my answer would be B.
I'd say B.
I would say B.
I'd go with B.
I'm going with B.
I'll go with B.
I will go with option B.
I went with B.
I choose B.
I choose option (B).
I pick B.
My pick is B.
My choice is B.
My guess is B.
I guess B.
I believe the answer is B.
I believe it's B.
I'm confident that the answer is B.
I am fairly sure it's B.
I'm leaning towards B.
Going with B.
Let's go with B.
B it is.
B, for sure.
B for sure.
B.
B!
(B)
[B]
**B**
**(B)**
**B.** the blue shift
B) the blue shift
B. the blue shift
B: the blue shift
(B) the blue shift
B - the blue shift
B, because the source moves towards us.
B because the source moves towards us.
B since the wavelength shrinks.
B. Since the wavelength shrinks.
Option B.
option B
Choice B
Choice (B).
Letter B
The correct option is B.
The right option is B.
The best option is B.
The correct choice is (B).
The best choice would be B.
The most appropriate answer is B.
The only correct option is B.
The only remaining option is B.
The remaining choice is B.
The correct letter is B.
The correct answer would be B.
The correct answer should be B.
The correct answer has to be B.
The correct answer is thus B.
The correct answer is clearly option B.
The correct answer to the question is B.
The answer to this question is therefore option B.
The answer is: B
The answer is: **B**.
The answer is "B".
The answer is 'B'.
The answer is [B].
The answer is option **(B)**.
The answer is choice B.
The answer is letter B.
The answer is, therefore, B.
The answer is of course B.
The answer is most likely B.
The answer is probably B.
The answer is given by option B.
The answer would be B.
The answer must be B.
The answer, then, is B.
the answer is b.
the answer is (b)
So the answer is B, as shown above.
Hence, the answer is B.
Hence B.
Hence the correct option is (B).
Consequently, B is the answer.
In conclusion, B.
In conclusion, the answer is B.
Conclusion: B
Overall, B is the best answer.
Overall, option B fits best.
Option B is correct.
Option B is the correct answer.
Option B is right.
Option B is the best choice.
Option B is therefore the right choice.
B is correct.
B is the correct answer.
B is the right answer here.
B is the answer.
B is my answer.
B is clearly the best answer.
B is definitely the right choice.
B must be correct.
B would be the correct answer.
B seems to be the best answer.
B seems right.
B fits best.
(B) is correct.
**B** is the correct option.
Thus, option B is correct.
So option B is the answer.
So the answer should be B.
So we choose B.
So we select option B.
We therefore select B.
This corresponds to option B.
This corresponds to (B).
This matches option B.
This matches B.
That matches choice B.
which is option B.
That is option B.
That's B.
This is B.
This points to B.
Everything points to option B.
Selected answer: B
Selected option: B
Correct answer: B
Correct option: B
Correct: B
Solution: B
Result: B
Verdict: B
Choice: B
Option: B
Pick: B
Conclusion: option B
Answer: Option B
Answer: option (B)
Answer: B (the blue shift)
Answer: B) the blue shift
Answer: **B) the blue shift**
Answer:\\n\\nB
Answer:\\n**B**
## Answer\\nB
Final answer:\\n\\n(B) the blue shift
Answer: the blue shift
The answer is the blue shift.
The answer is the blue shift (B).
Therefore, the blue shift.
It must be the blue shift.
the blue shift
The blue shift.
It's the blue shift, option B.
$\\boxed{B}$
\\boxed{B}
\\boxed{\\text{B}}
\\boxed{\\textbf{(B)}}
\\boxed{B. the blue shift}
\\boxed{\\text{B) the blue shift}}
\\boxed{the blue shift}
\\boxed{\\text{Option B}}
The answer is $\\boxed{B}$.
The answer is \\(\\boxed{B}\\).
Answer: $B$
Answer: \\(B\\)
ANSWER: $B$.
<answer>B</answer>
<answer>(B)</answer>
{"answer": "B"}
{"reasoning": "towards us", "answer": "B"}
```json\\n{"answer": "B"}\\n```
#### B
→ B
=> B
✅ B
👉 **B**
B ✓
A? No. B.
A? No, B.
Is it A? No, it's B.
Could it be A? No. The answer is B.
First I thought A, but it's B.
First I thought it was A, but the answer is B.
I was going to say A, but B is correct.
At first glance A, but actually B.
The answer is A. Wait, no, the answer is B.
The answer is A. Wait, no. B.
The answer is A. Actually, it's B.
The answer is A. Scratch that. The answer is B.
The answer is A. On second thought, B.
The answer is A... no, wait, B.
Answer: A. Wait, that is wrong. Answer: B
Answer: A\\nCorrection: B
Answer: A\\n\\nCorrected answer: B
A is tempting, but the answer is B.
A seems plausible but B is better, so B.
Although A looks right, B is correct.
While A might seem right, the correct answer is B.
Both A and B look right, but B is the better answer, so the answer is B.
A is incorrect because the source does not recede. B is correct.
Option A is wrong. Option C is wrong. Option D is wrong. Option B is correct.
A: wrong. C: wrong. D: wrong. So the answer is B.
There is no doubt that the answer is B.
Without a doubt, B.
Undoubtedly B.
Not surprisingly, the answer is B.
It cannot be anything other than B.
The answer can only be B.
The answer is none other than B.
Definitely B.
Probably B.
Clearly B.
Most likely B.
I'm not sure, but I'd say B.
I don't know for certain, but I think the answer is B.
If I'm not mistaken, the answer is B.
The answer is B. A is wrong because the source does not recede.
The answer is B; A, C and D are wrong.
The answer is B (A is wrong).
The answer is B, since A and C contradict the text.
Answer: B\\n\\nExplanation: A is wrong because nothing recedes.
Answer: B. It can't be A or C.
""".strip().split("\n")
GERMAN = """
Die Antwort ist B.
Die Antwort lautet B.
Die richtige Antwort ist B.
Die richtige Antwort lautet: B
Die korrekte Antwort ist daher B.
Antwort: B
Antwort B
Antwort B ist richtig.
Lösung: B
Richtig ist B.
Korrekt ist Option B.
Also B.
Daher B.
Somit ist B richtig.
Somit ist Option B die richtige Antwort.
B ist richtig.
B ist die richtige Antwort.
Option B ist korrekt.
Ich wähle B.
Ich nehme B.
Ich entscheide mich für B.
Es bleibt nur B.
Es muss B sein.
Das ist B.
Die Antwort ist nicht A, sondern B.
Nicht A, sondern B.
A ist falsch, also B.
A, C und D sind falsch. Daher ist die Antwort B.
Die Antwort ist B, nicht A.
Ohne Zweifel B.
Die Antwort ist A. Moment, nein, die Antwort ist B.
""".strip().split("\n")
FRENCH = """
La réponse est B.
La bonne réponse est B.
La bonne réponse est la B.
La réponse correcte est donc B.
Réponse : B
Réponse B
La réponse B est correcte.
C'est B.
C'est donc B.
Donc B.
Ainsi, la réponse est B.
Je choisis B.
Je choisis la réponse B.
J'opte pour B.
Il ne reste que B.
L'option B est correcte.
L'option B est la bonne.
B est correct.
B est la bonne réponse.
La réponse n'est pas A, c'est B.
Ce n'est pas A mais B.
A est fausse, donc B.
La réponse est B, pas A.
Sans aucun doute, B.
La réponse est A. Non, attendez, la réponse est B.
""".strip().split("\n")
SPANISH = """
La respuesta es B.
La respuesta correcta es B.
La respuesta correcta es la B.
La respuesta correcta es la opción B.
Respuesta: B
Respuesta correcta: B
Por lo tanto, B.
Por tanto, la respuesta es B.
Entonces es B.
Así que es B.
Elijo B.
Elijo la opción B.
Me quedo con B.
La opción correcta es B.
La opción B es correcta.
La opción B es la correcta.
B es la respuesta correcta.
B es correcta.
Debe ser B.
Tiene que ser B.
Solo queda B.
La respuesta no es A, sino B.
No es A, sino B.
A es incorrecta, por lo tanto B.
La respuesta es B, no A.
Sin duda, B.
La respuesta es A. No, espera, la respuesta es B.
""".strip().split("\n")
ITALIAN = """
La risposta è B.
La risposta corretta è B.
La risposta corretta è la B.
La risposta giusta è l'opzione B.
Risposta: B
Risposta corretta: B
Quindi B.
Quindi la risposta è B.
Dunque, B.
Scelgo B.
Scelgo l'opzione B.
L'opzione corretta è B.
L'opzione B è corretta.
B è la risposta corretta.
B è corretta.
Deve essere B.
Rimane B.
La risposta non è A, ma B.
Non è A, ma B.
A è sbagliata, quindi B.
La risposta è B, non A.
Senza dubbio B.
""".strip().split("\n")
PORTUGUESE = """
A resposta é B.
A resposta correta é B.
A resposta correta é a B.
A resposta correta é a letra B.
A resposta certa é a alternativa B.
Resposta: B
Resposta: letra B
Resposta correta: B
Gabarito: B
Portanto, B.
Portanto, a resposta é B.
Logo, B.
Escolho B.
Escolho a opção B.
A alternativa correta é B.
A alternativa correta é a letra B.
A opção B está correta.
B é a resposta correta.
B está correta.
Deve ser a B.
Só pode ser a B.
A resposta não é A, mas sim B.
Não é A, é B.
A resposta é B, não A.
Sem dúvida, B.
""".strip().split("\n")
CHINESE = """
答案：B
答案: B
答案是B
答案是 B。
答案为B。
答案选B。
答案应该是B
正确答案是B。
正确答案：B
正确答案为 **B**。
因此，正确答案是 B。
因此答案是B。
因此选B。
因此，B是正确的。
所以选择B
所以选B。
所以答案是B。
故选B。
故答案为B。
故选：B
综上，答案是B。
综上所述，选B。
综上所述，正确选项是B。
我选B。
我选择B。
我认为答案是B。
应选B。
应该选B。
选B
选择B。
选项B正确。
选项B是正确的。
选项B是正确答案。
B选项正确。
B是正确的。
B是正确答案。
B正确
B不是 A
B不是A
B。 不是 A
B，不是A。
选B不选A。
答案不是A，而是B。
答案不是A而是B。
不是A，是B。
A不对，所以选B。
A错误，B正确。
A、C、D错误，所以答案是B。
排除A、C、D，选B。
只剩B。
毫无疑问，答案是B。
显然是B。
最佳答案是B。
最终答案：B
最终答案是B。
【答案】B
【答案】：B
答：B
答案是A。等等，不对，答案是B。
""".strip().split("\n")
JAPANESE = """
答えはBです。
答えはB
答え：B
答えはBだ。
正解はBです。
正解はB。
正解：B
正解は選択肢Bです。
したがって、答えはBです。
したがって、Bです。
したがって、正解はBとなります。
よって、B。
よって正解はBです。
つまりBです。
Bが正解です。
Bが正しい。
Bが正しいです。
選択肢Bが正解です。
選択肢Bが正しい。
最も適切なのはBです。
解答：B
回答: B
答えはAではなくBです。
Aではなく、Bです。
Aは間違いなので、答えはBです。
最終的な答えはBです。
最終回答：B
""".strip().split("\n")
KOREAN = """
정답은 B입니다.
정답은 B
정답: B
정답은 B이다.
답: B
답은 B입니다.
답은 B이다.
따라서 정답은 B입니다.
따라서 답은 B이다.
따라서 B입니다.
그러므로 정답은 B입니다.
B가 정답입니다.
B가 맞습니다.
선택지 B가 정답입니다.
올바른 답은 B입니다.
최종 답: B
최종 정답: B
정답은 A가 아니라 B입니다.
A가 아니라 B입니다.
A는 틀렸으므로 정답은 B입니다.
""".strip().split("\n")
RUSSIAN = """
Ответ: B
Ответ: B.
Ответ — B.
Ответ - B
Правильный ответ: B
Правильный ответ — B.
Правильный ответ B.
Верный ответ: B
Верный ответ — вариант B.
Итак, ответ: B
Таким образом, правильный ответ — B.
Следовательно, ответ B.
Следовательно, B.
Значит, B.
Поэтому B.
Это B.
Это вариант B.
Я выбираю B.
Выбираю вариант B.
Вариант B верен.
Вариант B правильный.
B — правильный ответ.
Правильным ответом является B.
Ответ не A, а B.
Не A, а B.
A неверно, значит, ответ B.
Ответ B, а не A.
Без сомнения, B.
""".strip().split("\n")

LANGUAGES = {
    "en": ENGLISH,
    "de": GERMAN,
    "fr": FRENCH,
    "es": SPANISH,
    "it": ITALIAN,
    "pt": PORTUGUESE,
    "zh": CHINESE,
    "ja": JAPANESE,
    "ko": KOREAN,
    "ru": RUSSIAN,
}
BEFORE = (
    "",
    "The source moves towards us, so waves are pushed together.\n\n",
    "A) the red shift would need a source that recedes.\nB) fits.\nC) would need rest.\n\nDone.\n\n",
)


def read(text: str) -> str | None:
    """Return the letters that the verifier reads from a text."""
    case = Case(
        SampleId("t", "p", 0), (Answer(text, "absent", "", False),), {"letter": "B", "options": OPTIONS}
    )
    found: str | None = VERIFIER.verify(case).detail.get("letter")
    return found


def unescaped(line: str) -> str:
    return line.replace("\\n", "\n")


def test_the_list_has_three_hundred_endings_in_ten_languages() -> None:
    assert len(LANGUAGES) == 10
    assert sum(len(set(endings)) for endings in LANGUAGES.values()) >= 300


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("before", BEFORE, ids=["alone", "after a sentence", "after a list"])
def test_endings_are_read_as_people_mean_them(language: str, before: str) -> None:
    endings = LANGUAGES[language]
    wrong = {ending: found for ending in endings if (found := read(before + unescaped(ending))) != "B"}
    assert len(wrong) <= (1 - LEAST_READ) * len(endings), wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_letter_is_read_in_the_same_places(language: str) -> None:
    swap = str.maketrans("AB", "DA")
    plain = [ending for ending in LANGUAGES[language] if "blue" not in ending and "ANSWER" not in ending]
    shown = [unescaped(ending) for ending in plain if ending.translate(swap).count("D") <= 1]
    swapped = {ending: ending.replace("B", "D") for ending in shown if "A" not in ending}
    wrong = {ending: found for ending in swapped.values() if (found := read(ending)) != "D"}
    assert len(wrong) <= (1 - LEAST_READ) * len(swapped), wrong
