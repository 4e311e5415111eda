"""Words whose final dot seldom ends an English sentence, as the splitter without tables knows them."""

from genbench.verifiers.constraints.wordlists import words

ABBREVIATIONS = words(
    # forms of address, ranks, degrees
    "mr mrs ms messrs mme dr drs prof rev hon sr jr st gen col maj capt cpt lt sgt cpl pvt adm cmdr gov sen "
    "rep pres supt esq ph.d m.d b.a m.a b.sc m.sc d.d.s ll.d m.b.a "
    # companies and places
    "inc corp ltd co cos bros llc plc dept dist assn univ ave blvd rd hwy mt ft "
    "u.s u.k u.n e.u u.s.a d.c n.y l.a "
    # months and days
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues thu thur thurs fri "
    # latin and editorial
    "e.g i.e cf viz vs v al ca approx "
    "fig figs vol vols pp eds trans "
    # times and measures
    "a.m p.m a.d b.c oz lb lbs ft sq hr hrs min est "
    # american states
    "ala ariz calif colo conn del fla ind kan ky md mich minn mo mont neb nev okla tenn tex va vt "
    "wis wyo"
)
"""Lower-case, without the final dot. Single letters need no entry: Punkt knows initials. Words that often
end a sentence themselves ("wed", "ill", "ore") are left out."""
