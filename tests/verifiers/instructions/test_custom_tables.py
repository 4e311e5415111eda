"""IFBench's tables for one prompt each: the number of records, the header, quotes."""

from __future__ import annotations

from genbench.verifiers.instructions import ifbench_custom
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.toolbox import Toolbox

CITIES = "ID,Country,City,Year,Count\n" + "\n".join(f"{i},France,Paris,200{i},{i}" for i in range(7))


def test_a_table_of_cities_has_a_header_and_seven_records(tools: Toolbox) -> None:
    assert ifbench_custom.csv_city(Text(CITIES, tools)) is None
    shorter = CITIES.rpartition("\n")[0]
    assert ifbench_custom.csv_city(Text(shorter, tools)) == "7 records, exactly 8 wanted"
    longer = ifbench_custom.csv_city(Text(f"{CITIES}\n7,a,b,c,d\n8,a,b,c,d", tools))
    assert longer == "more records, exactly 8 wanted"


def test_the_header_and_the_number_of_fields_are_exact(tools: Toolbox) -> None:
    other = ifbench_custom.csv_city(Text(CITIES.replace("Year", "year"), tools))
    assert other == "the header is not ID, Country, City, Year, Count"
    fields = ifbench_custom.csv_city(Text(CITIES.replace("2003,3", "2003"), tools))
    assert fields == "record 5 has 4 fields, exactly 5 wanted"


def test_products_need_one_quoted_field_with_a_mark(tools: Toolbox) -> None:
    rows = ['P1,Food,"Ben & Co",1,2', *(f"P{i},Food,Brand,1,2" for i in range(2, 15))]
    text = "ProductID, Category, Brand, Price, Stock\n" + "\n".join(rows)
    assert ifbench_custom.csv_special_character(Text(text, tools)) is None
    plain = ifbench_custom.csv_special_character(Text(text.replace(" & ", " and "), tools))
    assert plain == "no quoted field with a special character"


def test_students_need_tabs_and_quotes_everywhere(tools: Toolbox) -> None:
    header = "\t".join(f'"{name}"' for name in ifbench_custom.STUDENT_COLUMNS)
    rows = ["\t".join(f'"{cell}"' for cell in ("1", "Art", "A", "Fall", "90")) for _ in range(3)]
    text = "\n".join([header, *rows])
    assert ifbench_custom.csv_quotes(Text(text, tools)) is None
    assert ifbench_custom.csv_quotes(Text(text.replace('"Art"', "Art", 1), tools)) is not None
    assert ifbench_custom.csv_quotes(Text("\n".join([header, *rows[:2]]), tools)) is not None
