"""Reads numbers that are written with words, and the units after numbers.

``1.5 \\text{ million}`` is 1500000, "two and a half" is 5/2, ``\\text{minus } 2`` is -2, and
``12 \\text{ cm}`` is 12. Units are a closed list. A number with any other word next to it is a phrase, and
never the number by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from genbench.verifiers.language.word_lists import read_list, words
from genbench.verifiers.notation.numbers import NUMBER_WORDS, repeating_as_fractions

_TENS = dict(
    zip(
        read_list("twenty; thirty; forty; fifty; sixty; seventy; eighty; ninety"),
        range(20, 100, 10),
        strict=True,
    )
)
_SMALL = {word: value for value, word in enumerate(NUMBER_WORDS)} | _TENS | {"fourty": 40}
# "5 thousand", "2 dozen", "3 lakh", "5k". Not "M", which is also molar, and not "K", which is kelvin.
_SCALES = {
    "hundred": 100,
    "thousand": 10**3,
    "k": 10**3,
    "grand": 10**3,
    "lakh": 10**5,
    "million": 10**6,
    "mil": 10**6,
    "crore": 10**7,
    "billion": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
    "quadrillion": 10**15,
    "quintillion": 10**18,
    "dozen": 12,
    "score": 20,
    "gross": 144,
}
_SCALES |= {
    f"{word}s": value
    for word, value in _SCALES.items()
    if len(word) > 3 and word not in {"score", "gross", "grand"}
}
# "3 halves", "two thirds", "a quarter", "7 tenths".
_ORDINALS = dict(
    zip(
        read_list("""
            third; fourth; fifth; sixth; seventh; eighth; ninth; tenth; eleventh; twelfth; thirteenth;
            fourteenth; fifteenth; sixteenth; seventeenth; eighteenth; nineteenth; twentieth
        """),
        range(3, 21),
        strict=True,
    )
)
_PARTS = _ORDINALS | {
    "quarter": 4,
    "thirtieth": 30,
    "fortieth": 40,
    "fiftieth": 50,
    "sixtieth": 60,
    "hundredth": 100,
}
_PARTS |= {"thousandth": 10**3, "millionth": 10**6, "billionth": 10**9}
_PARTS |= {f"{word}s": value for word, value in _PARTS.items()} | {"half": 2, "halves": 2, "halfs": 2}
# "twice 5", "double 5".
_TIMES = {"twice": 2, "double": 2, "thrice": 3, "triple": 3, "treble": 3, "quadruple": 4}
# "square root of 2", "the reciprocal of 6".
_FUNCTIONS = {
    ("square", "root", "of"): "\\sqrt{{{}}}",
    ("cube", "root", "of"): "\\sqrt[3]{{{}}}",
    ("cubic", "root", "of"): "\\sqrt[3]{{{}}}",
    ("root", "of"): "\\sqrt{{{}}}",
    ("reciprocal", "of"): "\\frac{{1}}{{{}}}",
    ("square", "of"): "({})^{{2}}",
    ("cube", "of"): "({})^{{3}}",
    ("factorial", "of"): "({})!",
    ("negative", "of"): "-({})",
}
# "2 squared", "5 factorial".
_POSTFIXES = {"squared": "({})^{{2}}", "cubed": "({})^{{3}}", "factorial": "({})!"}
# "5 plus 2", "6 over 7".
_OPERATORS = {
    ("plus",): "{}+({})",
    ("minus",): "{}-({})",
    ("times",): "({})\\cdot({})",
    ("multiplied", "by"): "({})\\cdot({})",
    ("divided", "by"): "\\frac{{{}}}{{{}}}",
    ("over",): "\\frac{{{}}}{{{}}}",
    ("to", "the", "power", "of"): "({})^{{{}}}",
    ("raised", "to", "the", "power", "of"): "({})^{{{}}}",
    ("raised", "to", "the", "power"): "({})^{{{}}}",
    ("raised", "to"): "({})^{{{}}}",
    ("to", "the", "power"): "({})^{{{}}}",
}

# What other languages of tasks count in: "5 Stunden", "18 euros", "12 元".
_ELSEWHERE_COUNTED = frozenset(
    read_list("""
        stunde; stunden; minute; minuten; sekunden; tag; tage; tagen; woche; wochen; monat; monate; jahr;
        jahre; jahren; meter; kilometer; gramm; liter; grad; cent; stück; personen; leute; kinder; äpfel;
        schüler; bücher; eier; seiten; punkte; quadratmeter; heure; heures; minutes; secondes; jour; jours;
        semaine; semaines; mois; an; ans; années; mètres; mètre; kilomètres; grammes; litres; degrés;
        centimes; personnes; enfants; pommes; élèves; livres; œufs; pages; points; dollars; euros; hora;
        horas; minutos; segundos; día; días; semana; semanas; mes; meses; año; años; metros; kilómetros;
        gramos; litros; grados; centavos; dólares; pesos; personas; niños; manzanas; estudiantes; libros;
        huevos; páginas; puntos; unidades; ora; ore; minuti; secondi; giorno; giorni; settimane; mese; mesi;
        anno; anni; metri; chilometri; grammi; litri; gradi; dollari; persone; bambini; mele; studenti;
        libri; uova; dia; dias; ano; anos; quilômetros; graus; dólares; reais; pessoas; maçãs; alunos; ovos;
        uur; minuten; seconden; dagen; weken; maanden; jaar; graden; час; часа; часов; минут; минуты;
        минута; секунд; день; дня; дней; недель; недели; месяцев; месяца; год; года; лет; метров; метра; см;
        км; кг; г; м; рублей; рубля; долларов; доллара; градусов; человек; человека; яблок; яблока; книг;
        штук; 个; 個; 元; 美元; 美分; 人; 小时; 小時; 分钟; 分鐘; 秒; 天; 周; 週; 月; 年; 岁; 歳; 米; 厘米;
        千米; 公里; 千克; 克; 升; 度; 只; 隻;
        本; 页; 頁; 种; 種; 次; 名; 件; 条; 張; 张; 颗; 块; 円; ドル; セント; 時間; 分; 日; 週間; ヶ月;
        か月; 枚; 匹; 回; 通り; 点; メートル; センチ;
        グラム; キロ; リットル; つ; 歳; 개; 명; 시간; 분; 초; 일; 주; 개월; 년; 살; 미터; 킬로미터; 그램;
        리터; 달러; 원; 마리; 권; 장; 번; 가지
    """)
)
"""Units and nouns in other languages than English."""
_SYMBOLS = frozenset(
    read_list("""
        m; g; s; A; K; C; F; N; J; W; V; L; l; h; Hz; kHz; MHz; GHz; Pa; kPa; MPa; eV; keV; MeV; GeV; mol;
        cd; T; H; Ω; mm; cm; dm; km; nm; µm; μm; pm; fm; mg; kg; ml; mL; cl; dl; dL; kL; hl; ms; ns; kN; kJ;
        MJ; mJ; kW; MW; GW; mW; kWh; mV; kV; mA; kcal; cal; mmHg; atm; bar; torr; amu; u; pc; kpc; Mpc; ly;
        AU; rad; mrad; sr; deg; hr; hrs; min; mins; sec; secs; yr; yrs; wk; mo; ft; in; yd; yds; mi; lb;
        lbs; oz; pt; qt; gal; tsp; tbsp; mph; kph; rpm; cc; sq; cu; psi; mmol; dB; kB; MB; GB; TB; bps; KB;
        Mbps; kbps; USD; EUR; GBP; usd; eur; gm; gms; ha; acre; erg; ergs; Js; ppm; cubits
    """)
)
"""Symbols of units, which count in this spelling: K is kelvin, and k a thousand."""
_MEASURES = """
    meter; metre; centimeter; centimetre; millimeter; millimetre; kilometer; kilometre; decimeter;
    nanometer; micrometer; micron; gram; gramme; kilogram; milligram; kilo; ton; tonne; liter; litre;
    milliliter; millilitre; deciliter; second; millisecond; microsecond; nanosecond; minute; hour; day;
    week; weekday; weekend; fortnight; month; year; decade; century; night; evening; morning; afternoon;
    mile; yard; foot; feet; inch; knot; furlong; fathom; league; acre; hectare; pound; ounce; stone; gallon;
    quart; pint; cup; teaspoon; tablespoon; barrel; bushel; degree; radian; kelvin; newton; joule;
    kilojoule; watt; kilowatt; megawatt; volt; ampere; amp; ohm; hertz; kilohertz; pascal; mole; calorie;
    kilocalorie; electronvolt; coulomb; tesla; farad; henry; candela; lumen; lux; becquerel; parsec;
    lightyear; angstrom; bit; byte; kilobyte; megabyte; gigabyte; terabyte; pixel; dollar; cent; euro;
    penny; pennies; pence; nickel; dime; buck; rupee; yen; yuan; peso; franc; ruble; rouble; shilling;
    krona; crown; won; lira; real; reais; unit; point; mark; percentage; mil; horsepower; cycle; rotation;
    revolution; decibel
"""
_COUNTED = """
    acorn; actor; actress; ad; adult; advertisement; agreement; album; alligator; almond; ambulance;
    amendment; anagram; angle; animal; answer; ant; apartment; ape; app; apple; applicant; appointment;
    apricot; arc; arrangement; arrow; article; assignment; assortment; asteroid; asymptote; athlete;
    atom; attempt; attendee; aunt; author; automorphism; award; axes; axis; babies; baby; bacteria;
    bacterium; badge; bag; bagel; baguette; baker; bale; ball; balloon; banana; bandage; bandaid;
    bandana; banner; bar; barber; barge; barrel; basket; basketball; bat; batch; batches; bathtub;
    battalion; batteries; battery; battleship; bead; beaker; beam; bean; bear; beat; beaver; bed; bee;
    beer; beet; beetle; bell; belt; bet; bicycle; bike; biker; bill; bird; biscuit; bishop; blanket;
    block; blossom; blueberries; blueberry; board; boat; bolt; bomb; bond; bonus; bonuses; book;
    bookcase; bookmark; bottle; bouquet; bow; bowl; box; boy; bracelet; bracket; branch; brick; bridge;
    brochure; brother; brownie; brush; bucket; bug; builder; building; bulb; bulldozer; bullet; bunch;
    burger; burrito; bus; bush; butcher; butterflies; butterfly; button; cab; cabbage; cable; cage; cake;
    call; camel; camera; camper; can; canal; candidate; candies; candle; candy; cannoli; cannon; canoe;
    capsule; car; card; carpenter; carpet; carriage; carrot; cart; case; cashew; cashier; castle; cat;
    caterpillar; cell; cello; chair; chapter; character; charger; chart; check; cheetah; chef; cherries;
    cherry; chicken; child; children; chimichanga; chip; chocolate; choice; chord; circle; citation;
    cities; citizen; city; clam; class; clause; clerk; client; clip; clique; cloud; clown; club; coach;
    cod; coefficient; coin; color; coloring; colour; colouring; column; comb; combination; comet;
    committee; companies; company; component; computer; cone; conference; configuration; constellation;
    container; contestant; contract; cook; cookie; copies; copy; corn; corner; coset; cougar; countries;
    country; couple; coupon; course; cousin; cow; crab; cracker; cranberries; cranberry; crane; crate;
    crayon; crease; cricket; crocodile; croissant; crossing; crow; cruiser; crumb; cubes; cucumber;
    cupcake; cupful; curtain; cushion; customer; cut; cycle; cyclist; cylinder; dam; dancer; date;
    daughter; deal; deer; derangement; desk; diagonal; diamond; diaper; dice; die; digit; digit sum;
    dinosaur; discount; diver; dividend; divisor; doctor; document; dog; doll; dolphin; donkey; donor;
    donut; door; doorbell; dose; dot; doughnut; download; draw; drawer; dream; dress; dresses; drill;
    drink; driver; dromedaries; dromedary; drone; drum; duck; dumpling; eagle; earring; edge; editor;
    egg; eggplant; eigenvalue; eigenvector; electrician; electron; element; elephant; elf; elk; elves;
    email; emerald; employee; engine; engineer; envelope; enzyme; episode; equation; eraser; error;
    essay; event; exam; example; excavator; exercise; extrema; extremum; face; factor; fairies; fairy;
    falcon; families; family; fan; farm; farmer; father; faucet; fee; female; fence; ferries; ferry; fig;
    file; film; firefighter; firework; fish; flag; flamingo; flavor; flavour; flies; flight; flip; floor;
    flower; flute; fly; flyer; folder; footnote; forest; fork; forklift; fortress; foul; fountain;
    freshman; friend; fries; frog; fruit; function; fund; galaxies; galaxy; game; gate; gear; geese; gem;
    gene; generator; gift; giraffe; girl; glass; glider; glove; goal; goalie; goat; goose; gorilla;
    grade; graduate; grain; grandchild; grandchildren; grandparent; grape; grapefruit; graph;
    grasshopper; grid; group; guard; guest; guitar; gumball; gun; haiku; hair; hamburger; hammer; hand;
    handful; handshake; hangar; hanger; hare; hat; hawk; hazelnut; head; heart; hedgehog; helicopter;
    helmet; hen; hexagon; highway; hiker; hippo; hit; hole; home; homer; homomorphism; hornet; horse;
    hose; house; household; idea; image; index; indices; individual; infant; ingot; injection; inning;
    insect; integer; intercept; intern; intersection; interval; inversion; investor; ion; isomorphism;
    item; jacket; jar; jellybean; jellyfish; jet; jewel; jigsaw; job; joke; journey; judge; jug; jump;
    junior; kangaroo; kayak; keg; kettle; key; keyboard; keyword; kid; king; kite; kitten; kiwi; knife;
    knight; knives; koala; ladder; ladybug; lake; lamp; landlord; lane; lantern; lap; laptop; lattice;
    law; lawyer; layer; leaf; leaflet; lease; leaves; lecture; leg; lemon; lens; lenses; lentil; leopard;
    lesson; letter; lettuce; level; lever; light; lime; limousine; line; lion; list; litter; lizard;
    load; loaf; loan; loaves; lobster; locker; log; lollipop; loop; lorries; lorry; loss; losses;
    lozenge; machine; magazine; magnet; male; man; manager; mango; mangoes; map; marathon; marble;
    marker; mask; mat; match; matches; matching; matrices; matrix; mattress; mattresses; meal;
    measurement; meatball; medal; melon; member; men; message; mice; midterm; milkshake; mirror; missile;
    mistake; mitten; model; molecule; monitor; monkey; moon; moose; mortgage; mosquito; mosquitoes; moth;
    mother; motor; mouse; move; movie; muffin; mug; mushroom; musician; nail; napkin; necklace; neighbor;
    neighbour; nephew; neuron; neutron; newspaper; newt; niece; node; note; notebook; novel; nugget;
    nurse; nut; object; octagon; octant; octopus; officer; olive; omelet; onion; operation; option;
    orange; orbit; order; ordering; ostrich; otter; outcome; outfit; owl; owner; ox; oxen; oyster; pack;
    package; packet; paddle; page; painter; painting; pair; pairing; palindrome; pallet; pan; pancake;
    panda; panel; panther; pants; paper; parachute; paragraph; parallelogram; parcel; parent;
    parentheses; parenthesis; park; parrot; part; participant; particle; parties; partition; party; pass;
    passenger; passes; patch; path; patient; pawn; pea; peach; peaches; peacock; peanut; pear; pearl;
    pebble; pedal; pelican; pen; penalties; penalty; pencil; penguin; pentagon; people; pepper;
    permutation; person; persons; pet; petal; phone; photo; photograph; photon; piano; picture; pie;
    piece; pig; pigeon; pill; pillar; pillow; pilot; pineapple; pinecone; pipe; pirate; pistachio;
    pitcher; pizza; place; plane; planet; plank; plant; plate; platform; player; playlist; plum; plumber;
    poem; poet; pokemon; pole; polygon; polynomial; pomegranate; pomelo; pond; pool; popcorn; popsicle;
    porcupine; portrait; position; possibilities; possibility; post; postcard; poster; pot; potato;
    potatoes; present; presentation; pretzel; prime; printer; prism; prize; problem; product; program;
    programmer; project; promise; protein; proton; puck; puffin; pulse; pump; pumpkin; punch; pupil;
    puppies; puppy; purchase; puzzle; pyramid; quadrant; quadrilateral; quarterback; queen; question;
    quilt; quiz; quizzes; quotation; rabbit; race; racket; radii; radish; radius; raft; raise; rally;
    raspberries; raspberry; rat; raven; reading; rebate; rebel; receipt; recipe; rectangle; referee;
    reference; refund; region; relative; report; reporter; representation; representative; resident;
    residue; result; rhino; rhombi; rhombus; rhyme; rhythm; ribbon; ride; rider; ring; river; road;
    robin; robot; rock; rocket; rod; rodent; roll; rook; room; roommate; rooster; roots; rope; rose;
    round; row; rubies; ruby; rug; rule; runner; runway; sailor; salamander; sale; salmon; sample;
    sandwich; sandwiches; sapphire; satellite; sausage; saw; scarf; scarves; school; scientist; scoop;
    scooter; screw; screwdriver; seagull; seal; seashell; season; seat; section; sector; seed; segment;
    seminar; senior; sentence; sequence; serve; server; serving; session; set; shampoo; share; shark;
    sheep; sheet; shelf; shell; shelves; shield; shingle; ship; shirt; shoe; shop; shot; shovel; shower;
    shrimp; sibling; side; signal; signature; singer; sink; sister; skateboard; skater; skein; skier;
    skirt; sled; sleeve; sleigh; slice; slipper; snack; snail; snake; soap; sock; soda; soldier;
    solution; son; song; sonnet; sophomore; space; spaceship; sparrow; spear; specimen; spectator;
    sphere; spider; spin; spoon; spoonful; spore; spot; sprint; squares; squash; squid; squirrel; stair;
    stamp; stanza; star; starfish; state; station; statue; statute; stem; step; stick; sticker; stitch;
    stock; stone; stop; store; stories; story; straw; strawberries; strawberry; street; strike; string;
    stripe; student; subgroup; subject; submarine; subscription; subset; suit; suitcase; sunflower;
    surfboard; surfer; swan; sweater; sweet; swimmer; switch; sword; symbol; symmetries; symmetry; tab;
    table; tablet; taco; tadpole; tail; tailor; tangent; tank; task; tax; taxes; taxi; teacher; team;
    teenager; teeth; telephone; tenant; tent; term; terminal; tessellation; test; tetrahedra;
    tetrahedron; text; theorem; thing; thorn; ticket; tie; tiger; tile; tiling; tin; tip; tire; title;
    toad; toddler; toe; toilet; token; tomato; tomatoes; tooth; toothbrush; toothpick; topping; torpedo;
    tortoise; toss; touchdown; tour; tourist; tournament; towel; tower; town; toy; track; tractor; trail;
    train; trainer; tram; transposition; trapezium; trapezoid; traveler; traveller; tray; treat; treaty;
    tree; trial; triangle; tricycle; tries; trip; triplet; trolley; trophies; trophy; trousers; trout;
    truck; truffle; trumpet; try; tuba; tube; tulip; tuna; tunnel; tuple; turkey; turn; turnip; turtle;
    twin; type; umbrella; umpire; uncle; unicorn; user; vaccine; value; valve; van; variable; vase;
    vector; vehicle; verse; vertex; vertices; video; village; vine; violin; virus; viruses; visit;
    visitor; vlog; volunteer; vote; voter; voucher; waffle; wage; wagon; waiter; waitress; walk; wall;
    walnut; wasp; watch; watermelon; way; whale; wheel; widget; win; window; wing; wire; wishes; wizard;
    wolf; wolves; woman; wombat; women; word; worker; workshop; worm; writer; yacht; yogurt; zebra;
    zeroes; zeros; zucchini
"""
_UNITS = frozenset(
    form for noun in read_list(_MEASURES + ";" + _COUNTED) for form in (noun, f"{noun}s", f"{noun}es")
)
_QUALIFIERS = frozenset(
    read_list("""
        square; squared; cubic; sq; cu; fluid; nautical; metric; astronomical; light; kilowatt; blue;
        red; green; yellow; white; black; brown; pink; purple; orange; gold; silver; different; distinct;
        possible; total; more; other; whole; full; new; old; small; large; big; tall; long; short; real;
        complex; positive; negative; integer; rational; prime; odd; even; unique; valid; ordered;
        unordered; linear; equal; identical; extra; additional; us; american; australian; canadian;
        british; high; low; first; single; correct; favorable; favourable; consecutive; common; proper;
        trailing; leading; nonzero; solar; dozen; french; tennis; golf; soccer; jelly; candy; hot;
        wooden; stuffed; toy; chocolate; vanilla; medium; healthy; broken; working
    """)
)
"""Words before a unit: "square feet", "different ways"."""
_AFTER_UNIT = frozenset(
    read_list(
        "each; apiece; total; altogether; long; tall; wide; high; deep; old; away; left; remaining; overall"
    )
)
"""Words after a unit that change nothing: "5 years old"."""
_TOUCHING = frozenset(read_list("mm; cm; km; kg; ft; lb; lbs; mph; nm; ml; mL; kJ; kW; Hz; kHz; GB; MB"))
"""Units that may touch their number without a wrapper. 70xy and 2mg may be products."""

_CHARS = 200
"""A longer text is no number with words."""
_WRAPPER = (
    r"\\(?:text|mathrm|mbox|textnormal|textbf|textrm|textit|textsf|hbox|rm|operatorname)"
    r"\s*\{(?P<text>[^{}]*)\}"
)
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d+(?:\.\d+)?|\.\d+"
_TOKEN = re.compile(
    rf"{_WRAPPER}(?P<power>\s*\^\s*(?:\{{\s*-?\d\s*\}}|-?\d))?"
    # A bare word, with its blank: "15 cm", "15cm^2". One letter is a variable, but for "half a million".
    r"|(?P<word>(?<![\\A-Za-z])(?:[A-Za-z]{2,}(?:-[A-Za-z]{2,})*|a(?=\s+[a-z]{3})|(?<=/)h)(?![A-Za-z])"
    r"|[^\W\d_A-Za-z][^\W\d_]*)(?P<raised>\^(?:\{-?\d\}|-?\d))?"
    rf"|(?P<number>{_NUMBER})"
    r"|(?P<separator>[=<>,;]|\\(?:leq?|geq?|lt|gt|neq?|in|approx|pm|cup|cap|to)(?![A-Za-z]))"
    r"|(?P<mathematics>\\[A-Za-z]+|\\.|.)",
    re.DOTALL,
)
_INNER = re.compile(rf"(?P<word>[^\W\d_]+)|(?P<number>-?(?:{_NUMBER}))|(?P<sign>[/·%])|(?P<other>[^\s().\-])")
_WORDED = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2}|[^\W\d_A-Za-z]|\\(?:text|mathrm|mbox|hbox|rm|operatorname)")
# `3`, `1.5`, `1,234`, `\frac{3}{2}`, `1\frac{1}{2}`.
_PLAIN = re.compile(
    r"(?P<sign>[+-]?)\s*(?P<number>[\d,]*\.?\d+)?\s*(?:\\frac\{(?P<above>\d+)\}\{(?P<below>\d+)\})?"
)
_ENDS_VALUE = re.compile(r"[\d)}\]!']\s*$|(?<![\\A-Za-z])[A-Za-z]\s*$|\\pi\s*$")


@dataclass(frozen=True, slots=True)
class _Item:
    """A piece of a phrase: a word, or mathematics."""

    text: str
    is_word: bool
    touches: bool = False
    """It is a bare word right after a number."""
    start: int = 0
    end: int = 0
    """Where it is in its text."""


@dataclass(frozen=True, slots=True)
class _Segment:
    """What is between two separators such as an equals sign, as written and in pieces."""

    written: str
    items: list[_Item]


def with_numerals(text: str) -> str:
    """Return tidy LaTeX with each number in words as a numeral, and without units after numbers.

    ``x = \\text{minus } 7`` becomes ``x=-(7)``. What is no number with words stays as it is.
    """
    if len(text) > _CHARS or not _WORDED.search(text):
        return text
    return "".join(_in_numerals(segment) for segment in _segments(text))


def _in_numerals(segment: _Segment) -> str:
    """Return a segment as a numeral, or as it is written."""
    if not any(item.is_word for item in segment.items):
        return segment.written
    found = _Phrase(segment.items).whole()
    if found is None and any(item.text in {"and", "or"} for item in segment.items):
        found = _in_parts(segment.items)
    return segment.written if found is None else f" {found} "


def _in_parts(items: list[_Item]) -> str | None:
    """Return ``1 \\text{ million or } 2 \\text{ million}`` part by part, or None if a part is no number."""
    parts: list[str] = []
    start = 0
    for at in [*(at for at, item in enumerate(items) if item.text in {"and", "or"}), len(items)]:
        part = _Phrase(items[start:at]).whole()
        if part is None:
            return None
        parts += [part, f"\\text{{ {items[at].text} }}" if at < len(items) else ""]
        start = at + 1
    return "".join(parts)


# What makes another number of a number in a sentence: "5 million", "half of 2".
_CHANGING = frozenset(
    {
        *_SCALES,
        *_PARTS,
        *_TIMES,
        *_POSTFIXES,
        "minus",
        "negative",
        "root",
        "reciprocal",
        "square",
        "cube",
        "power",
    }
)
_CHANGES = re.compile(
    rf"(?<![A-Za-z\\])(?:{words({*_CHANGING, *_SMALL} - {'k'})})(?![A-Za-z])", re.IGNORECASE
)
_LINKING = frozenset(read_list("and; a; an; of; the; to; point"))
_SPOKEN = frozenset({*_CHANGING, *_SMALL, *_LINKING})
_PIECE = re.compile(
    rf"(?P<number>\$?-?(?:{_NUMBER}|\\[dt]?frac\{{\d+\}}\{{\d+\}})(?:\$(?!\d))?)(?![\w^!%/])"
    r"|(?P<word>[A-Za-z]+)|(?P<blank>[ \t-]+)|.",
    re.DOTALL,
)
# Before a number that has no digits: "The total is four hundred."
_STATED = re.compile(
    r"(?:\b(?:is|are|was|were|be|equals?|exactly|about|approximately)|[=:])[ \t*_]*$|^[ \t*_]*$",
    re.IGNORECASE,
)
_ACTING = frozenset(read_list("we; you; i; they; to; then; and; must; can; now; let's; us; not"))
"""Words before "double" that make a verb of it: "then we double 7"."""
_SENTENCE_CHARS = 2_000
"""A longer text is no sentence."""
_RUN = 30
"""Pieces that a number in words may have. The parser calls itself for some of them."""
_ORDERED = frozenset(
    read_list("first; second; third; last; other; latter; former; top; bottom; in; by; on; cut")
)
"""Words before "half" that make a name of it: "the first half of 2020"."""


def is_spoken(text: str) -> bool:
    """Return whether all words of a text are words of numbers: "one thousand", but not "Three Kings"."""
    return all(word.lower() in _SPOKEN for word in re.findall(r"[^\W\d_]+", text))


def numerals_in_sentence(text: str) -> str:
    """Return a sentence with numerals for numbers that words change: "They sold 5 thousand" has 5000.

    A number without digits counts only if the sentence ends with it: "The total is four hundred." In "one of
    the two roots" it is a word like others.
    """
    if len(text) > _SENTENCE_CHARS:
        return text
    text = repeating_as_fractions(text)
    if not _CHANGES.search(text):
        return text
    parts: list[str] = []
    done = 0
    for items in _spoken_runs(text):
        found = _spoken(text, items)
        if found is not None:
            parts += [text[done : items[0].start], found]
            done = items[-1].end
    return "".join([*parts, text[done:]])


def _spoken_runs(text: str) -> Iterator[list[_Item]]:
    """Yield the longest runs of numbers and words of numbers, without linking words at their ends."""
    run: list[_Item] = []
    for match in _PIECE.finditer(text):
        if match["number"]:
            run.append(
                _Item(
                    match[0].strip("$").replace("dfrac", "frac").replace("tfrac", "frac"),
                    False,
                    False,
                    *match.span(),
                )
            )
        elif match["word"] and match[0].lower() in _SPOKEN:
            run.append(_Item(match[0], True, False, *match.span()))
        elif not match["blank"]:
            yield from _trimmed(run)
            run = []
    yield from _trimmed(run)


def _trimmed(run: list[_Item]) -> Iterator[list[_Item]]:
    start, end = 0, len(run)
    while end and run[end - 1].text.lower() in _LINKING:
        end -= 1
    while start < end and run[start].text.lower() in _LINKING - {"a", "an"}:
        start += 1
    if start < end <= start + _RUN:
        yield run[start:end]


def _spoken(text: str, items: list[_Item]) -> str | None:
    """Return the number that a run of a sentence spells, between its dollar signs, or None."""
    found = _Phrase(items).whole()
    if found is None:
        return None
    if all(item.is_word for item in items):
        after = _Phrase([*items, *_inner(text[items[-1].end :])]).whole()
        if after is None or not _STATED.search(text[: items[0].start]):
            return None
    elif not any(item.text.lower() in _CHANGING for item in items):
        return None
    before = text[: items[0].start].rsplit(maxsplit=1)
    if (
        items[0].is_word
        and before
        and before[-1].lower() in (_ACTING if items[0].text in _TIMES else _ORDERED)
    ):
        return None
    written = text[items[0].start : items[-1].end]
    # "$5$ million" is a formula, "$5 million" is money.
    return f"${found}$" if written.count("$") == 2 else f"${found}" if written.startswith("$") else found


# What may be right before a number that a phrase states: "there are 12", "Area: 12", "a total of 12".
_BEFORE = frozenset(
    read_list("""
        is; are; was; were; be; equals; equal; only; exactly; precisely; approximately; about; around;
        roughly; approx; circa; yes; answer; answers; so; thus; hence; therefore; get; gets; got; give;
        gives; have; has; had; takes; take; took; costs; cost; needs; need; total; totals; value; result;
        solution; area; volume; length; x; y; n; makes; make; contains; contain; leaves; find; obtain;
        becomes; become; yields; yield; earns; earned; spent; spends; pays; paid; sold; sells; bought; buys;
        made; and; or; the; est; sont; es; son; ist; sind; è; sono; é; são; равен; равна; равно; ответ;
        antwort; respuesta; réponse; risposta; resposta; hat; hay; il; y; a; tiene; gibt; der; den; het;
        jest; lösung; ergebnis; resultado; résultat; sum; product; maximum; minimum; at; in; for; when; if;
        where; as; then; since; 是; 为; は; there; of; to; choose; mod; that; which; fraction; number; point
    """)
)
# "the total of 12": these words before "of" name what the number is. "the double of 12" does not.
_NAMED_BY_OF = frozenset(
    read_list("""
        total; value; area; length; volume; probability; answer; number; maximum; minimum; average;
        mean; median; speed; rate; cost; price; perimeter; distance; height; width; radius; weight; age;
        score; profit; amount; remainder; result; ratio; solution; median; mode;
        temperature; mass; values; set; consists; instead
    """)
)
# What may be right after it: "12 is the answer", "5 only", "12 in total".
_AFTER = frozenset(
    read_list("""
        only; exactly; in; and; or; as; for; when; if; where; such; possible; so; since; because; which;
        that; with; altogether; total; overall; respectively; each; at; by; from; on; different; distinct;
        of; remaining; left; choose; mod; per; to; ways
    """)
)


def is_stated_in_phrase(before: str, after: str) -> bool:
    """Return whether the words next to a number in a phrase leave it as it is.

    "there are … ways" does. "twice …", "all but …" and "… fails" do not: their value is another or none.
    """
    left = before.rstrip(" \t\n:=,(*_").rsplit(None, 2)
    name = left[-1].strip("*_(\"'").lower() if left else ""
    if name and name[-1:].isalpha() and before.rstrip(" \t\n*_(")[-1:].isalpha():
        if name not in _BEFORE:
            return False
        if name == "of" and (len(left) < 2 or left[-2].strip("*_(\"'").lower() not in _NAMED_BY_OF):
            return False
    if not after.lstrip(" \t*_)$")[:1].isalpha():
        return True
    phrase = _Phrase([_Item("1", False), *_inner(after[:_CHARS])])
    return phrase.begins_with_number()


def _segments(text: str) -> Iterator[_Segment]:
    """Yield the parts of a text between separators outside brackets, and the separators."""
    items: list[_Item] = []
    start = depth = 0
    for match in _TOKEN.finditer(text):
        depth += 0 if match.lastgroup != "mathematics" else (match[0][-1] in "({[") - (match[0][-1] in ")}]")
        if match["separator"] and depth == 0:
            yield _Segment(text[start : match.start()], items)
            yield _Segment(match[0], [])
            items, start = [], match.end()
        elif depth == 0 and match["text"] is not None:
            items += _inner(match["text"])
        elif depth == 0 and match["word"]:
            touches = match.start() > 0 and text[match.start() - 1].isalnum()
            items += [_Item(word, True, touches) for word in match["word"].split("-")]
        elif items and not items[-1].is_word:
            items[-1] = _Item(items[-1].text + match[0], False)
        elif match[0].strip():
            items.append(_Item(match[0], False))
    yield _Segment(text[start:], items)


def _inner(text: str) -> Iterator[_Item]:
    """Yield the words and numbers of ``\\text{…}``."""
    for match in _INNER.finditer(text):
        yield _Item(match[0], match.lastgroup != "number")


class _Phrase:
    """One pass over the pieces of a phrase. Each method returns LaTeX, or None if its rule does not apply."""

    def __init__(self, items: list[_Item]) -> None:
        self._items = [_Item("/", True) if item.text.strip() == "/" else item for item in items]
        self._at = 0

    def whole(self) -> str | None:
        """Return the phrase as LaTeX if all of it is one number with words or with a unit."""
        found = self._sum()
        if found is None:
            return None
        self._skip_unit()
        return found if self._at == len(self._items) else None

    def begins_with_number(self) -> bool:
        """Return whether what follows a number leaves it as it is: "12 ways to choose", "42 is right"."""
        if self._opaque() is None:
            return False
        self._skip_unit()
        following = self._word()
        if following in {"is", "are"}:
            return self._word(1) in {"the", "my", "our", "correct", "right"}
        return following in _AFTER or self._at == len(self._items)

    def _word(self, ahead: int = 0) -> str:
        """Return a word ahead, or "" if there is none. Only symbols of units count with their case."""
        at = self._at + ahead
        return self._items[at].text.lower() if at < len(self._items) and self._items[at].is_word else ""

    def _take(self, *words: str) -> bool:
        if any(self._word(ahead) != word for ahead, word in enumerate(words)):
            return False
        self._at += len(words)
        return True

    def _sum(self) -> str | None:
        """Read one operation of two terms: "5 plus 2", "2 to the power of 10". More are ambiguous."""
        one = self._term()
        if one is None:
            return None
        for spelling, template in _OPERATORS.items():
            if self._take(*spelling):
                two = self._term()
                return None if two is None else template.format(one, two)
        # "2 to the tenth power", "2 to the fifth".
        if self._word() == "to" and self._word(1) == "the" and (power := _ORDINALS.get(self._word(2))):
            self._at += 3
            self._take("power")
            return f"({one})^{{{power}}}"
        return one

    def _term(self) -> str | None:
        # "minus 2", "negative one half".
        if self._word() in {"minus", "negative"} and self._word(1) != "of":
            self._at += 1
            inner = self._term()
            return None if inner is None else f"-{inner}" if inner.isdigit() else f"-({inner})"
        if self._take("plus") or self._take("positive"):
            return self._term()
        self._take("the")
        if (times := _TIMES.get(self._word())) is not None:
            self._at += 1
            inner = self._term()
            return None if inner is None else f"{times}\\cdot({inner})"
        for spelling, template in _FUNCTIONS.items():
            if self._take(*spelling):
                inner = self._term()
                return None if inner is None else template.format(inner)
        return self._power()

    def _power(self) -> str | None:
        found = self._number()
        if found is not None and (template := _POSTFIXES.get(self._word())) is not None:
            self._at += 1
            return template.format(found)
        return found

    def _number(self) -> str | None:
        """Read a number, with parts after "and" and with what it is a part of."""
        value, written = self._cardinal()
        if self._word() in _PARTS:
            return self._part(Fraction(1) if value is None else value)
        if value is None and self._word() in {"a", "an"} and self._word(1) in _PARTS:
            self._at += 1
            return self._part(Fraction(1))
        if value is None:
            return self._opaque()
        if self._word() == "and" and (part := self._part_after_and()) is not None and value.denominator == 1:
            return _latex(value + part)
        return written or _latex(value)

    def _part(self, value: Fraction) -> str | None:
        """Read "3 halves", "two thirds of 6", "half a million"."""
        if value.denominator != 1:
            return None
        part = value / _PARTS[self._word()]
        self._at += 1
        if self._take("of") or self._word() in {"a", "an"} or self._word() in _SCALES:
            if self._word() in _UNITS or (self._word() in {"a", "an"} and self._word(1) not in _SCALES):
                return _latex(part)  # "half a mile", "two thirds of a cup"
            inner = self._term()
            return None if inner is None else f"{_latex(part)}\\cdot({inner})"
        return _latex(part)

    def _part_after_and(self) -> Fraction | None:
        """Read "and a half", "and three quarters"."""
        start = self._at
        self._at += 1
        if self._word() in {"a", "an"}:
            self._at += 1
            count: Fraction | None = Fraction(1)
        else:
            count, _ = self._cardinal()
        below = _PARTS.get(self._word())
        if count is None or below is None:
            self._at = start
            return None
        self._at += 1
        return count / below

    def _cardinal(self) -> tuple[Fraction | None, str]:
        """Read "twenty-one", "5 thousand", "one hundred and five", and how it was written if in digits."""
        total, current = Fraction(0), self._small()
        if current is None and self._word() in {"a", "an", "one"} and self._word(1) in _SCALES:
            self._at += 1
            current = (Fraction(1), "")
        if current is None:
            return None, ""
        value, written = current
        ceiling = Fraction(10**30)
        while (scale := _SCALES.get(self._scale())) is not None:
            written = ""
            self._at += 1
            value *= scale
            if scale == 100 and self._word() in _SCALES:
                continue
            if value >= ceiling:
                return None, ""
            total, ceiling = total + value, Fraction(scale)
            skipped = self._word() == "and" and self._word(1) in _SMALL and self._word(2) not in _PARTS
            self._at += skipped
            following = self._small()
            if following is None:
                return total, ""
            value = following[0]
        if self._take("point"):
            digits = ""
            while _SMALL.get(self._word(), 10) < 10:
                digits += str(_SMALL[self._word()])
                self._at += 1
            return (
                (Fraction(f"{total + value}.{digits}"), f"{total + value}.{digits}") if digits else (None, "")
            )
        if value >= ceiling:
            return None, ""
        return total + value, written

    def _scale(self) -> str:
        """Return the scale ahead. K is kelvin, and k a thousand."""
        item = self._items[self._at] if self._at < len(self._items) else None
        return "" if item is None or item.text == "K" else self._word()

    def _small(self) -> tuple[Fraction, str] | None:
        """Read a number in digits, or one below a hundred in words."""
        if self._at < len(self._items) and not self._items[self._at].is_word:
            written = self._items[self._at].text.strip()
            value = _plain_value(written)
            self._at += value is not None
            return None if value is None else (value, written)
        small = _SMALL.get(self._word())
        if small is None:
            return None
        self._at += 1
        if small >= 20 and 0 < _SMALL.get(self._word(), 0) < 10:
            small += _SMALL[self._word()]
            self._at += 1
        return Fraction(small), ""

    def _opaque(self) -> str | None:
        """Return other mathematics: ``\\sqrt{3} \\text{ cm}``, but not ``\\angle \\text{C}``."""
        item = self._items[self._at] if self._at < len(self._items) else None
        if item is None or item.is_word or not _ENDS_VALUE.search(item.text):
            return None
        self._at += 1
        return item.text.strip()

    def _skip_unit(self) -> None:
        """Pass over a unit: "square feet", "km/h", "dollars per hour", "cups of sugar", "years old"."""
        if not self._skip_noun():
            return
        while self._word() in {"per", "/", "·", "a", "an", "of", "by"} or self._is_unit(self._at):
            start = self._at
            self._at += not self._is_unit(self._at)
            if not self._skip_noun():
                self._at = start
                break
        while self._word() in _AFTER_UNIT:
            self._at += 1

    def _skip_noun(self) -> bool:
        start = self._at
        while (
            self._word() in _QUALIFIERS
            and self._at + 1 < len(self._items)
            and self._items[self._at + 1].is_word
        ):
            if (
                self._is_unit(self._at)
                and not self._is_unit(self._at + 1)
                and self._word(1) not in _QUALIFIERS
            ):
                break
            self._at += 1
        if self._is_unit(self._at):
            self._at += 1
            return True
        self._at = start
        return False

    def _is_unit(self, at: int) -> bool:
        if at >= len(self._items) or not self._items[at].is_word:
            return False
        item = self._items[at]
        if item.touches and item.text.isascii():
            return item.text in _TOUCHING
        return item.text in _SYMBOLS or item.text.lower() in _UNITS or item.text.lower() in _ELSEWHERE_COUNTED


def _plain_value(text: str) -> Fraction | None:
    """Return the value of digits or a fraction of digits."""
    match = _PLAIN.fullmatch(text)
    if (
        match is None
        or not (match["number"] or match["above"])
        or (match["below"] and not int(match["below"]))
    ):
        return None
    value = Fraction((match["number"] or "0").replace(",", ""))
    if match["above"]:
        value += Fraction(int(match["above"]), int(match["below"]))
    return -value if match["sign"] == "-" else value


def _latex(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value)
    sign = "-" if value < 0 else ""
    return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
