"""Denials, hedges, retractions and prose in ten languages: none of them chooses the option they name."""

from __future__ import annotations

import pytest

from genbench.verifiers.language import commitment
from tests.verifiers.choice.test_neighbours import LEAST_READ, endings, read

NOT_CHOSEN = {
    "A": r"""
A hint: use energy.
A thought: maybe not.
A, in my view, is nonsense and wrong.
A simple answer.
A lot of work.
A, B, or C?
I'd rather not say.
I guess I need more data.
I would have to think.
A is the mass of the body.
A is wrong here.
It ain't A.
Not A though.
Nope, not A.
Kann A sein.
A kann es nicht sein.
Ce serait A si le système était ouvert.
Quizá A.
Forse A.
Talvez A.
恐怕不是A
A应该不对
Aとは言えない。
A는 아닐 것이다.
Это точно не A.
""",
    "B": r"""
The star moved to quadrant B.
We measured it with telescope B.
Look at figure B.
The light came from source B.
This happened in phase B.
He got a grade of B.
She plays the note B.
They live in building B.
The train goes from A to B.
Compare A with B.
Compare with B.
A comparison with B is needed.
It depends on B.
We need more data on B.
Nothing supports B.
Few would choose B.
I would hesitate to choose B.
I'd avoid B.
Avoid B.
Beware of B.
Ignore B.
Forget B.
It's tempting to choose B.
One might choose B.
You could argue for B.
Some would say B.
Many people choose B.
Students often pick B.
A common mistake is B.
The trap is B.
The distractor is B.
The opposite of B.
The answer lies between A and B.
The answer is A, C or B.
Niemand würde B wählen.
不能选B
Bを選んではいけない。
B는 제외합니다.
Исключаем B.
A good idea.
A good idea would be to look at the map.
I think.
I think so.
I think that a map would help.
I am not sure.
I would need a map.
I cannot say; A, B, C and D are all plausible.
None of the options is correct.
None of A, B, C, D.
B is wrong.
It is not B.
The answer is not B.
Definitely not B.
B can't be right.
B? I doubt it.
Is it B?
Could it be B?
It might be B.
Perhaps B, perhaps C.
If the city were on the coast, the answer would be B.
I don't know whether it is B.
I can't decide between B and C.
The answer isn't B.
B is incorrect.
Option B is not correct.
B is not the answer.
Nobody would pick B.
I would never choose B.
Anything but B.
Everything except B.
Either B or C.
B or C.
B and C.
B/C
B, C
The answer is B or C.
The answer is either B or C.
Both B and C are correct.
A, B, C, D
All of the above.
The answer is B. Wait, that's wrong.
The answer is B. No, that's incorrect.
The answer is B. Scratch that.
Vitamin B is important.
Hepatitis B is a virus.
Plan B failed.
The B-side of the record.
B ist falsch.
Nicht B.
Die Antwort ist nicht B.
Weder A noch B.
B oder C.
Vielleicht B oder C.
Ist es B?
B est faux.
Ce n'est pas B.
La réponse n'est pas B.
Ni A ni B.
B ou C.
Est-ce B ?
B es incorrecta.
No es B.
La respuesta no es B.
Ni A ni B son correctas.
B o C.
¿Es B?
B è sbagliata.
Non è B.
Né A né B.
B o C?
B está errada.
Não é B.
A resposta não é B.
Nem A nem B.
B ou C?
B不对
不是B
答案不是B
B是错的
B或C
可能是B，也可能是C
是B吗？
Bではありません。
Bは間違いです。
答えはBではない。
BかCです。
B가 아닙니다.
정답은 B가 아니다.
B는 틀렸습니다.
B 또는 C
B неверно.
Это не B.
Ответ не B.
Ни A, ни B.
B или C
Может быть, B.
Это B?
""",
    "C": r"""
C is false.
C is not right.
C cannot be correct.
C can be excluded.
C is ruled out.
We can rule out C.
Not C.
It isn't C.
It's not C.
The answer cannot be C.
The answer is certainly not C.
I doubt that it is C.
I doubt it's C.
C is unlikely.
C seems unlikely.
C is a distractor.
Is the answer C?
Should I choose C?
Maybe C?
C or D
C/D
C & D
C and D are both possible.
It's either C or D.
It could be C or D.
I am torn between C and D.
C, perhaps, or D.
(C), (D)
\\boxed{C, D}
\\boxed{\\text{C or D}}
Neither C nor D.
None of these answers.
If momentum were lost, the answer would be C.
Suppose the answer is C.
Assume C is correct.
The answer is C. Oops, that's not right.
The answer is C. I take that back.
C would be correct if the system were open.
A collision happened.
I like physics.
I think physics is nice.
A very good question.
A: hello
E is for energy.
Category C storms are strong.
Vitamin C helps.
C++ is a language.
The C major scale.
Die Antwort ist nicht C.
C ist nicht richtig.
C oder D
C n'est pas correct.
Ce n'est pas la C.
C ou D
C no es correcta.
No es la C.
C o D
C non è corretta.
Non è la C.
C não está correta.
Não é a letra C.
C不正确
不选C
C和D都对
C是错误的
Cは正しくない。
Cは不正解です。
CまたはD
C는 정답이 아닙니다.
C는 아니다.
C나 D
C — неправильный ответ.
C неверный вариант.
Ответ точно не C.
C или D
""",
    "D": r"""
D is not correct.
D is not it.
D does not fit.
D doesn't work.
D makes no sense.
D fails.
D contradicts the text.
D is out.
D is eliminated.
D isn't an option.
D can't be the answer.
D must be wrong.
D would be wrong.
D is too strong.
That rules out D.
This excludes D.
So not D.
Hence not D.
The answer is anything but D.
The answer is never D.
The answer may be D.
The answer might be D.
The answer could be D.
The answer is C or D.
The answer is C and D.
The answer is C/D.
The answer is (C) or (D).
The answer is C, D.
Answers: C, D
Either (C) or (D).
Between C and D.
I'm unsure: C or D.
Unsure, maybe D.
No idea. D?
D???
Why D?
What about D?
Let us consider D.
Consider option D. Then consider option C.
If D were true, cells would burst.
Unless D is true, the rest fails.
Suppose D.
The answer is D. That is wrong.
The answer is D. I was wrong.
The answer is D, which is incorrect.
I think
I think therefore I am
I don't know.
I cannot answer.
A cell divides.
A plant needs light.
A, B and C are wrong.
An answer is needed.
As a result, plants grow.
Day D is coming.
Vitamin D comes from the sun.
D-day was in June.
3D printing is used.
Grade D was given.
Professor D. Smith said so.
D ist nicht richtig.
D scheidet aus.
Die Antwort könnte D sein.
D n'est pas la bonne réponse.
La réponse pourrait être D.
D ou C.
D no es.
La respuesta podría ser D.
D non va bene.
La risposta potrebbe essere D.
D não é.
A resposta poderia ser D.
D项错误
答案不可能是D
也许是D
Dではない。
Dかもしれません。
D가 아니다.
D일 수도 있습니다.
D не подходит.
Может быть, D.
Вряд ли D.
""",
}


@pytest.mark.parametrize("letter", NOT_CHOSEN)
def test_denials_hedges_and_prose_choose_no_option(letter: str) -> None:
    lines = endings(NOT_CHOSEN[letter])
    wrong = {line: found for line in lines if (found := read(line, letter)) == letter}
    assert len(wrong) <= (1 - LEAST_READ) * len(lines), wrong


def test_the_sets_are_large() -> None:
    assert sum(len(endings(block)) for block in NOT_CHOSEN.values()) >= 150


def test_every_language_of_the_endings_has_words_that_deny() -> None:
    assert {"en", "zh", "de", "fr", "es", "it", "pt", "ru", "ja", "ko"} <= commitment.DENYING.keys()
