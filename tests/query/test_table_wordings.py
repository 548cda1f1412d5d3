"""Questions in many wordings about small tables: each has the value that the rows of the table give by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fin_agent.evaluation.tatqa import synthetic_cover
from fin_agent.index.ingest import ingest
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.workspace import Workspace

TABLES = {
    "yarrow": (
        "Our total commercial cloud revenue, which comprises Yarrow 365, maps, and other properties, was $140 million"
        " and $100 million in 2019 and 2018. Document Cloud ARR exiting fiscal 2019 was $35 million, up from"
        " $28 million at the end of fiscal 2018. As of December 31, 2019, we had supply contract obligations,"
        " including related fees, of $16 million, with $4 million payable within 12 months. The timing of payments"
        " for content obligations is:",
        """|December 31, 2019|December 31, 2018
        Less than one year|$30|$20
        Due after one year and through three years|40|20
        Due after three years|30|10
        Total content obligations|$100|$50""",
    ),
    "zinnia": (
        "Changes in the estimated liability for product warranty were as follows (in millions):",
        """Years ended December 31,|2019|2018
        Beginning balance|51|37
        Provisions during the period|115|106
        Settlements during the period|(101)|(92)
        Ending balance|65|51""",
    ),
    "alder": (
        "Net cash used in investing activities was $0.3 million. Operating revenues and cash flows (in thousands):",
        """Years ended December 31,|2019|2018
        Operating revenues:||
        Bell Wireless|3,300|2,107
        Bell Media|1,100|893
        Total operating revenues|4,400|3,000
        Accrued receivables|181|121
        Billed receivables|241|302
        Goodwill acquired|1,447|718
        Net profit after tax|(9,819)|6,639
        Net cash used in investing activities|(312)|(104)
        Excluding:||
        Free Cash Flow (non-GAAP measure)|77|70""",
    ),
    "wisteria": (
        "As of December 31, 2019, we employed approximately 12,400 people on a full-time basis, 7,500 in the U.S. and"
        " 4,900 internationally. Our employee share plans hold the following shares (in thousands):",
        """|2019|2018
        Shares held by employees, total|76|81
        Shares granted|12|14""",
    ),
    "sumac": (
        "Amortization of intangible assets was $51 million in 2019. The expected future amortization of intangible"
        " assets as of December 31, 2019 is (in millions):",
        """|Amortization
        2020|47
        2021|38
        Thereafter|61
        Total|146""",
    ),
    "hawthorn": (
        "In 2020 we will open more plants. Capital expenditures of 2019, without those of 2020, were (in millions):",
        """|2019|2018
        Capital expenditures|285|209""",
    ),
    "birch": (
        "The following table shows net sales by reportable segment for the years ended December 31 (in thousands):",
        """|2019|2018
        Modules|1,460|502
        Systems|1,600|1,742
        Net sales|3,060|2,244""",
    ),
    "cedar": (
        "Our shares are listed on the Nasdaq Global Market. As of December 31, 2019, remaining performance obligations"
        " were approximately $15.2 million.",
        """|High|Low
        2019:||
        Fourth Quarter|$11.44|$9.47
        Third Quarter|$14.96|$10.26
        Second Quarter|$20.91|$12.61
        First Quarter|$18.19|$8.87""",
    ),
    "dogwood": (
        "As of December 31, 2019, maturities of lease liabilities were as follows (dollars in millions):",
        """|Operating leases|Finance leases
        2020|$460|47
        2021|361|28
        2022|308|22
        Total lease payments|1,129|97""",
    ),
    "elder": (
        "Revenue from significant customers is summarized as follows for fiscal years ended December 31:",
        """|2019|2018
        Apple Inc. (“Apple”)|32%|36%
        Huawei Technologies Co., Ltd. (“Huawei”)|13%|8%""",
    ),
    "fir": (
        "A summary of non-vested awards as of December 31, 2019, and changes during the year then ended:",
        """Non-vested awards|Shares|Weighted-average grant date fair value
        Non-vested at December 31, 2018|1,000|$41.12
        Granted|500|$53.53
        Vested|(300)|$41.83
        Forfeited|(200)|$50.49
        Non-vested at December 31, 2019|1,000|$45.40""",
    ),
    "ginkgo": (
        "Selected financial data of the company (in millions):",
        """Years ended December 31,|2019|2018
        Net cash provided by operating activities|100|90
        Capital expenditures|(30)|(25)
        Free cash flow, non-GAAP measure|75|69
        Operating income|150|140
        Depreciation and amortization|50|45
        Consolidated EBITDA|210|190
        Total debt|420|400""",
    ),
    "hazel": (
        "Net sales and operating profit by reportable segment (in millions):",
        """Years ended December 31,|2019|2018
        Net sales:||
        North America Retail|800|790
        Pet|200|180
        Total|1,000|970
        Operating profit:||
        North America Retail|120|110
        Pet|36|36
        Total|156|146""",
    ),
    "iris": (
        "CONSOLIDATED BALANCE SHEETS (in millions)",
        """December 31,|2019|2018
        ASSETS||
        Current Assets||
        Cash and cash equivalents|50|40
        Regulatory assets|23|17
        Total current assets|73|57
        Other Noncurrent Assets||
        Regulatory assets|951|929
        Other|10|12
        Total other noncurrent assets|961|941
        TOTAL ASSETS|1,034|998""",
    ),
    "katsura": (
        "Sales by category, as the approximate percentage of net sales of the fiscal years ended December 31:",
        """|2019|2018
        Lamps|42%|45%
        Chairs|34%|30%
        Tables|24%|25%
        Total|100%|100%""",
    ),
    "laurel": (
        "As of December 31, 2019, future payments on our long-term debt were as follows (dollars in millions):",
        """|Debt principal|Debt principal and interest
        2020|$100|120
        2021|90|130
        Total|190|250""",
    ),
    "juniper": (
        "Our backlog at December 31 was as follows (in millions). Net sales of Bell Space were $90 million in 2019.",
        """Years ended December 31,|2019|2018
        Bell Aircraft|800|700
        Bell Space|150|140
        Total Backlog|950|840
        Contractual backlog|905|815
        Unobligated backlog|45|25""",
    ),
    "maple": (
        "Deliveries of airplanes in 2019 and 2018 were as follows:",
        """Years ended December 31,|2019|2018
        737 deliveries|127|580
        787 deliveries|158|145
        Total deliveries|285|725""",
    ),
    "nutmeg": (
        "Stock-based compensation expense is as follows (in millions):",
        """Years ended December 31,|2019|2018
        Cost of sales|10|8
        Research and development|60|40
        Marketing|30|32
        Total stock-based compensation expense|100|80""",
    ),
    "pecan": (
        "The following table shows net sales by region for the years ended December 31 (in millions):",
        """|2019|2018
        United States and Canada|480|410
        Latin America|120|130
        Asia Pacific|400|390
        Net sales|1,000|930""",
    ),
    "sorrel": (
        "Depreciation expense was $17 million in 2019. CASH FLOWS (in millions):",
        """Years ended December 31,|2019|2018
        Net cash provided by operating activities|310|290
        Net cash used in investing activities|(120)|(95)
        Repayments of debt|(64)|(32)
        Proceeds from issuance of debt|81|12
        Repurchases of common stock|(40)|(30)
        Dividends paid|(25)|(20)
        Interest income|6|5
        Interest expense|(11)|(9)
        Total debt|500|470
        Inventories|90|80
        Cost of sales|365|360""",
    ),
    "tansy": (
        "Net sales by groups of similar products and services (in millions):",
        """Years ended December 31,|2019|2018
        Net sales:||
        Online stores|400|300
        Advertising services|150|120
        Bitcoin revenue|250|80
        Total|800|500
        Cost of revenue:||
        Bitcoin costs|235|78
        Total cost of revenue|600|390""",
    ),
    "hickory": (
        "As of December 31, 2019, we employed approximately 9,100 people worldwide, including approximately 4,200"
        " people within the United States. Of the total employed people, 3,900 were in operations; 4,000 were in"
        " product research and development; and 1,200 were in sales. Our results were (in millions):",
        """Years ended December 31,|2019|2018
        Revenue|900|800
        Research and development|90|70
        Net income|90|80
        Short-term unearned revenue|60|50
        Long-term unearned revenue|15|10""",
    ),
    "hornbeam": (
        "Information on revenue and segment gross profit is as follows (in millions):",
        """Years ended December 31,|2019|2018
        Revenue:||
        Subscription revenue|300|250
        Hardware revenue|80|60
        Total revenue|380|310
        Gross profit:||
        Total gross profit|190|160
        Net income|70|75""",
    ),
    "umber": (
        "Domestic and foreign components of income before income taxes were as follows (in millions):",
        """Years ended December 31,|2019|2018
        Domestic|110|100
        Foreign|240|220
        Income before income taxes|350|320""",
    ),
    "vetch": (
        "Pension Plan (in millions):",
        """Years ended December 31,|2019|2018
        Service cost for benefits earned|51|48
        Amortization of prior service cost|(6)|(5)
        Interest cost|70|66""",
    ),
    "willow": (
        "Other accrued liabilities at December 31 were as follows (in millions):",
        """Years ended December 31,|2019|2018
        Wages and salaries|40|35
        Taxes|25|22
        Warranty|10|9
        Total other accrued liabilities|75|66""",
    ),
    "yew": (
        "Operating margin by reportable segment for the years ended December 31 (in millions):",
        """Years ended December 31,|2019|2018
        Net sales:||
        Freight|200|190
        Parcel|400|380
        Total|600|570
        Operating profit:||
        Freight|30|25
        Parcel|40|50
        Total|70|75""",
    ),
    "quince": (
        "Other figures of the years ended December 31 (in millions):",
        """Years ended December 31,|2019|2018
        Total hedging (benefit)/expense|23|19
        Intersegment revenues eliminated on consolidation|37|31
        Ratio of earnings to fixed charges|5.9|6.1
        Amount of net loss recognized in earnings|(21)|(18)
        Total margin for operating segments|242|230
        Short-term and long-term debt|155|143
        Ultimate projected increase|12|10
        Net cash provided by operating activities|90|80
        Purchases of property and equipment|(20)|(15)
        Free cash flow|61|55""",
    ),
    "mulberry": (
        "On May 1, 2019 we acquired Plume Corporation. The following table is the final purchase price allocation (in"
        " millions):",
        """|December 31, 2019
        Backlog|40
        Merchandise in transit|15
        Goodwill|310""",
    ),
    "aspen": (
        "Store and Operations Profile",
        """|December 31, 2018|Opened|Closed|December 31, 2019
        Aspen Kids|420|18|30|408
        Aspen Sport|240|4|199|45
        Aspen Outlet|20|10|5|25
        Total|680|32|234|478""",
    ),
    "linden": (
        "Sales metrics by region were as follows:",
        """|Thirteen weeks Comparable Sales|Fifty-two weeks Comparable Sales
        North America|7.7%|(1.1)%
        Europe|3.5%|0.8%
        Asia Pacific|2.2%|6.5%""",
    ),
    "oleander": (
        "Sales of Lamps by region and of Chairs by region for the years ended December 31 (in millions):",
        """|2019|2018
        Lamps:||
        Americas|80|70
        Europe|90|60
        Asia Pacific|30|20
        Total Lamps|200|150
        Chairs:||
        Americas|70|65
        Europe|20|30
        Asia Pacific|10|15
        Total Chairs|100|110""",
    ),
    "rowan": (
        "During 2019, we opened 47 new stores and remodeled 20 stores. At the end of 2019, we operated 1,355 stores in"
        " 29 states.</p><p>In 2019, we entered into a $750 million unsecured revolving credit facility, which matures"
        " on March 29, 2024. We pay a commitment fee on the undrawn amounts of the revolving credit facility at an"
        " annual rate of 0.10%.</p><p>On May 3, 2019, we issued $300 million of convertible senior notes that bear"
        " interest at 2.5%. On November 13, 2019, we issued $450 million of convertible senior notes that bear interest"
        " at 0.5%.</p><p>Prior FY20 Outlook</p><p>Updated FY20 Outlook</p><p>Net sales</p><p>$1.0 billion to $1.1"
        " billion</p><p>$1.2 billion to $1.3 billion</p><p>Comparable sales</p><p>4% to 5%</p><p>no change</p>"
        "<p>Diluted earnings per share</p><p>$2.10 to $2.20</p><p>$2.30 to $2.35</p><p>We hold a call today.",
        """|2019|2018
        Net sales|1,000|920""",
    ),
}
ASKED = [
    ("quince", "How much free cash was there in 2019?", 61),
    ("quince", "What was the total hedging (benefit)/expense in 2019?", 23),
    ("quince", "Intersegment revenues eliminated on consolidation 2019", 37),
    ("quince", "What was the ratio of earnings to fixed charges in 2018?", 6.1),
    ("quince", "What was the amount of net loss recognized in earnings in 2019?", -21),
    ("quince", "How much was the total margin for operating segments in 2019?", 242),
    ("quince", "What was the short-term and long-term debt in 2019?", 155),
    ("quince", "Ultimate projected increase 2019", 12),
    ("mulberry", "What was the backlog at the end of 2019?", None),
    ("mulberry", "How much merchandise was in transit at the end of 2019?", None),
    ("mulberry", "Goodwill acquired with Plume 2019", 310),
    ("birch", "By how much did net sales exceed Modules in 2019?", 1600),
    ("alder", "By how much did Bell Wireless exceed accrued receivables in 2019?", 3119),
    ("alder", "What was the sum of Bell Media and accrued receivables in 2019?", 1281),
    ("alder", "What was Bell Media as a percentage of accrued receivables in 2019?", 607.73),
    ("alder", "What is the percentage of Bell Wireless out of total operating revenues in 2019?", 75),
    ("alder", "What is the sum of the operating revenues of Bell Wireless in 2018 and 2019?", 5407),
    ("alder", "What is the percentage of accrued receivables in billed receivables in 2019?", 75.10),
    ("alder", "What is the percentage constitution of accrued receivables among billed receivables in 2018?", 40.07),
    ("alder", "What is the percentage change in net cash used in investing activities from 2018 to 2019?", 200),
    ("alder", "What is the percentage difference in accrued receivables between 2018 and 2019?", 49.59),
    ("alder", "How many percent did accrued receivables change by from 2018 to 2019?", 49.59),
    ("alder", "What is the ratio of accrued receivables in 2019 to that in 2018?", 1.496),
    ("alder", "What is the change in accrued receivables in 2019 relative to 2018?", 60),
    ("alder", "What is the percentage increase in free cash flow from 2018 to 2019?", 10),
    (
        "alder",
        "What is the average difference between billed receivables and accrued receivables for 2018 and 2019?",
        120.5,
    ),
    ("alder", "What is the total amount of accrued receivables in both 2018 and 2019?", 302),
    ("alder", "What is the total goodwill acquired in 2018 and 2019?", 2165),
    ("alder", "What was the difference in net profit after tax between 2018 and 2019?", -16458),
    ("birch", "What percentage of net sales was Modules in 2019?", 47.71),
    ("birch", "What is the percentage of Modules out of Systems in 2019?", 91.25),
    ("cedar", "What is the average quarterly low price for 2019?", 10.3025),
    ("cedar", "In 2019, what is the change in high price between the third quarter and fourth quarter?", -3.52),
    (
        "cedar",
        "What is the difference in the high and low prices of the common stock in the fourth quarter of 2019?",
        1.97,
    ),
    ("cedar", "How big was the remaining performance obligation (RPO) at the end of 2019?", 15.2),
    ("dogwood", "What is the sum of finance leases from 2020 to 2022?", 97),
    ("dogwood", "What is the percentage change in the amount of operating leases in 2021 from 2020?", -21.52),
    ("elder", "What is the change in the percentage of revenue from Apple between 2018 and 2019?", -4),
    ("elder", "What is the total percentage of revenue from Apple and Huawei in 2019?", 45),
    ("elder", "What is the average percentage of revenue from Apple and Huawei in 2018?", 22),
    ("fir", "What percentage of non-vested shares at December 31, 2019 was granted in 2019?", None),
    ("fir", "How many non-vested shares were forfeited in 2019?", 200),
    ("ginkgo", "What was free cash flow in 2019?", 75),
    ("ginkgo", "What was FCF / total debt in 2018?", 0.1725),
    ("ginkgo", "total debt / EBITDA in 2019, using their reported consolidated EBITDA", 2),
    ("ginkgo", "What was EBITDA in 2018?", 190),
    ("hazel", "What was pet margin in 2019?", 18),
    ("hazel", "What was the operating profit of the pet business in 2019?", 36),
    ("hazel", "What share of net sales came from the pet business in 2018?", 18.56),
    ("ginkgo", "Free cash flow in 2019: how much was not from operating activities?", None),
    ("alder", "Goodwill acquired in 2019 that wasn't paid in cash?", None),
    ("iris", "What were noncurrent regulatory assets at the end of 2019?", 951),
    ("iris", "What were current regulatory assets at the end of 2019?", 23),
    ("iris", "By how much did noncurrent regulatory assets change from 2018 to 2019?", 22),
    ("ginkgo", "Coverage ratio for 2019 - operating income minus capital expenditures, divided by total debt", 0.2857),
    ("katsura", "Which category had the highest share of net sales in 2019?", 42),
    ("katsura", "Which category had the most net sales in 2018?", 45),
    ("katsura", "Which category gained the most share of net sales in 2019?", 4),
    ("katsura", "Which category lost the most share of net sales in 2019?", -3),
    ("sumac", "What does Sumac expect amortization of intangible assets to be in the year following 2019?", 47),
    ("sumac", "How much intangible amortization does Sumac expect for the first year after 2019?", 47),
    ("sumac", "Amortization of intangible assets that Sumac expects in 2021", 38),
    ("hawthorn", "What does Hawthorn expect to spend on capital expenditures in 2020?", None),
    ("laurel", "How much debt principal falls due in 2021? exclude interest", 90),
    ("laurel", "Debt principal due in 2020, leaving out interest", 100),
    ("laurel", "Debt due in 2020, excluding principal", None),
    ("juniper", "What was the backlog of Bell Space at the end of 2019?", 150),
    ("juniper", "What share of the total backlog was Bell Aircraft's in 2018?", 83.33),
    ("juniper", "What was the growth of the Bell Space backlog from 2018 to 2019?", 7.14),
    ("maple", "How many 787s did Maple deliver in 2019?", 158),
    ("maple", "How many 737s did Maple hand over to customers in 2018?", 580),
    ("maple", "737 deliveries 2019 vs 2018", -453),
    ("maple", "How many 737s did Maple scrap in 2019?", None),
    ("nutmeg", "What fraction of 2019 stock-based compensation sat in research and development?", 60),
    ("pecan", "Net sales in the US and Canada in 2019?", 480),
    ("pecan", "Did the United States and Canada account for more than half of net sales in 2019?", 48),
    ("pecan", "Which region had the most net sales in 2019, and by how much?", 80),
    ("pecan", "Which region had the most net sales in 2019, ignoring Corporate and Antarctica?", 480),
    ("pecan", "Total net sales in 2019 only, not by region", 1000),
    ("pecan", "By how many $ did net sales grow in 2019?", 70),
    ("pecan", "How did net sales do in 2019?", 70),
    ("pecan", "How much did Latin America contribute to net sales in 2019, in percent?", 12),
    ("pecan", "How much did Latin America contribute to net sales in 2019?", 120),
    ("pecan", "Latin America made up what percentage of Pecan's net sales in 2019?", 12),
    ("pecan", "How much of Pecan's total net sales did Latin America account for in 2019, in percent?", 12),
    ("pecan", "Latin America net sales as % of total, 2019", 12),
    ("pecan", "Pecan 2019: Latin America sales mix, % of total", 12),
    ("pecan", "Latin America penetration at Pecan (share of net sales), 2019", 12),
    ("pecan", "Latin America's weight in Pecan's total net sales, 2019", 12),
    ("pecan", "How big was Latin America within Pecan's net sales in 2019, in percent?", 12),
    ("pecan", "Non-Latin America net sales in 2019", 880),
    ("pecan", "Smallest net sales contributor among Pecan's regions in 2019: name and amount", 120),
    ("pecan", "Where among the regions were the least net sales in 2019?", 120),
    ("pecan", "UCA net sales in 2019", 480),
    ("hazel", "For the Pet segment, what was operating profit as a percentage of net sales in 2019?", 18),
    ("hazel", "Operating profit as a percentage of net sales in the Pet segment in 2019", 18),
    ("hazel", "2019 operating profit as % of net sales, Pet", 18),
    ("hazel", "NAR operating profit over net sales in 2019", 0.15),
    ("hazel", "Which reportable segment led in operating profit in 2019?", 120),
    ("hazel", "Hazel's highest-margin segment in 2019, with the operating margin in percent", 18),
    ("hazel", "What was operating profit in 2019, in total and share of Pet?", None),
    ("hazel", "Which reportable segment was responsible for the most net sales in 2019?", 800),
    ("pecan", "How much of Pecan's 2019 net sales was Latin America responsible for, in percent?", 12),
    ("hazel", "Among the domestic segments, which had the lowest operating profit in 2019?", 36),
    ("sorrel", "How much debt did Sorrel pay back in 2019?", 64),
    ("sorrel", "How much debt did Sorrel raise in 2019?", 81),
    ("sorrel", "How much interest did Sorrel earn in 2018?", 5),
    ("sorrel", "How much cash did Sorrel's operations generate in 2019?", 310),
    ("sorrel", "How much cash did Sorrel use in investing in 2019?", -120),
    ("sorrel", "What was depreciation in 2019?", 17),
    ("sorrel", "Days of inventory in 2019, year-end inventory over cost of sales", 90),
    ("sorrel", "What were payouts in 2019, i.e. dividends, share repurchases and repayments of debt added up?", 129),
    ("tansy", "What was advertising revenue in 2019?", 150),
    ("tansy", "What was revenue without bitcoin in 2019?", 550),
    ("tansy", "What was revenue in 2019 if you leave out bitcoin?", 550),
    ("tansy", "How much gross profit did Tansy make on bitcoin in 2019?", 15),
    ("tansy", "What was Tansy's bitcoin gross profit in 2018?", 2),
    ("tansy", "What was Tansy's gross profit on advertising services in 2019?", None),
    ("tansy", "What gross margin did Tansy make on bitcoin in 2019?", 6),
    ("tansy", "Tansy's bitcoin gross margin, 2018", 2.5),
    ("tansy", "By what percent did Tansy's gross profit on bitcoin grow in 2019?", 650),
    ("hornbeam", "What was Hornbeam's subscription gross profit in 2019?", None),
    ("hornbeam", "What was Hornbeam's subscription revenue in 2019?", 300),
    ("hickory", "hickory headcount end of 2019", 9100),
    ("hickory", "By what percent did Hickory's total unearned revenue rise in 2019?", 25),
    ("hickory", "What was Hickory's revenue per employee in 2019 (revenue / employees)?", 98_901.0989),
    (
        "ginkgo",
        "Work out free cash flow for 2019 as net cash provided by operating activities less capital expenditures",
        70,
    ),
    ("hazel", "What was Pet operating margin in 2019 (operating profit / net sales)?", 0.18),
    ("hazel", "How much did the combined net sales of North America Retail and Pet rise in 2019?", 30),
    ("hazel", "By how much did Pet and North America Retail operating profit together change in 2019?", 10),
    ("tansy", "What was advertising revenue in 2019 (segment figures)?", 150),
    ("tansy", "By how many $ did net sales ex bitcoin grow in 2019?", 130),
    ("tansy", "How much of the 2019 net sales came through online stores?", 50),
    ("tansy", "What share of 2019 net sales came through the Advertising services channel?", 18.75),
    ("umber", "How much of the 2019 pretax income was foreign?", 68.57),
    ("umber", "What was foreign pre-tax income in 2018?", 220),
    ("umber", "What was domestic income before taxes in 2019?", 110),
    ("vetch", "What was the pension service cost in 2019?", 51),
    ("pecan", "What happened to net sales in 2019 compared with the year before (in millions)?", 70),
    ("birch", "Which segment added the most net sales in 2019?", 958),
    ("birch", "Which segment lost the most net sales in 2019 compared with 2018?", -142),
    ("birch", "Which segment contributed the most to net sales in 2019?", 1600),
    ("birch", "Which segment contributed the most to the growth of net sales in 2019?", 958),
    ("pecan", "What share of net sales came from Asia Pacific in 2019 (segment figures)?", 40),
    ("yew", "Which was more profitable by operating margin in 2019, Freight or Parcel?", 15),
    ("willow", "What was the largest component of Willow's other accrued liabilities at the end of 2019?", 40),
    ("willow", "Which item was the smallest part of Willow's other accrued liabilities in 2018?", 9),
    ("willow", "What made up most of Willow's other accrued liabilities in 2018?", 35),
    ("hazel", "What was the largest component of Hazel's net sales in 2019?", None),
    (
        "dogwood",
        "In which of the years 2020 to 2022 are Dogwood's operating lease payments largest, at December 31, 2019?",
        460,
    ),
    ("dogwood", "In which future year are Dogwood's finance lease payments smallest, as of December 31, 2019?", 22),
    ("wisteria", "How many employees did Wisteria have at the end of 2019?", 12400),
    ("wisteria", "Wisteria headcount at year-end 2019", 12400),
    ("wisteria", "How many of Wisteria's employees were in the United States at the end of 2019?", 7500),
    ("wisteria", "How many of Wisteria's full-time employees were based outside the US at year-end 2019?", 4900),
    ("wisteria", "What portion of Wisteria's employees worked outside the United States at the end of 2019?", 39.52),
    ("wisteria", "Share of Wisteria's workforce located in the U.S., 2019", 60.48),
    ("aspen", "How many stores was Aspen operating in total at the end of 2019?", 478),
    ("pecan", "What percentage of Pecan's net sales in 2019 was from Latin America?", 12),
    ("pecan", "Of Pecan's total net sales in 2019, how much came from Latin America, in percent?", 12),
    ("pecan", "Of Pecan's 2019 net sales, what proportion was generated in Latin America?", 12),
    ("pecan", "Of Pecan's 2019 net sales, what percentage was from Latin America?", 12),
    ("pecan", "Which grew faster in 2019, Latin America or Asia Pacific?", 2.56),
    ("aspen", "How many stores does Aspen operate at the end of 2019?", 478),
    ("linden", "Which Linden region had the strongest comparable sales in 2019?", 6.5),
    ("oleander", "Which region had the most Lamps sales in 2019?", 90),
    ("oleander", "Which region added the most Chairs sales in 2019?", 5),
    ("pecan", "Net sales of Latin America v Asia Pacific in 2019, which was lower and by how much?", 280),
    ("yarrow", "How fast did Yarrow's commercial cloud revenue grow in 2019?", 40),
    ("yarrow", "Yarrow Document Cloud ARR growth in 2019", 25),
    ("yarrow", "Yarrow supply contract obligations at December 31, 2019", 16),
    ("yarrow", "What share of Yarrow's supply contract obligations at December 31, 2019 is due within 12 months?", 25),
    ("yarrow", "What share of Yarrow's content obligations at December 31, 2019 falls due in less than one year?", 30),
    ("yarrow", "Percent of Yarrow content obligations due within one year at December 31, 2018", 40),
    ("sorrel", "Sorrel 2019: total cash spent on dividends and share repurchases combined?", 65),
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("tables")
    paths = [_written(folder, name, *told) for name, told in TABLES.items()]
    with SqliteIndex.create(folder / "index") as index:
        assert not ingest(paths, index, workers=0).failures
        yield Workspace(index)


def _written(folder: Path, name: str, before: str, table: str) -> Path:
    cover = synthetic_cover(f"{name.title()} Holdings Corporation", "December 31, 2019", "")
    cells = (row.strip().split("|") for row in table.splitlines())
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
    told = "".join(f"<p>{line}</p>" for line in cover)
    path = folder / f"{name}.html"
    page = f"{told}<hr style='page-break-after:always'/><p>{before}</p><table>{rows}</table>"
    path.write_text(f"<html><body>{page}</body></html>", encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "question", "value"), ASKED)
def test_a_wording_has_the_value_that_its_rows_give(
    tables: Workspace, name: str, question: str, value: float | None
) -> None:
    answer = tables.ask(question, filings=name)
    assert answer.answer.value == pytest.approx(value, abs=0.006) if value is not None else answer.refused, answer


IN_WORDS = [
    ("How many stores was Rowan running at the end of 2019?", "1,355"),
    ("How many new stores did Rowan open in 2019?", "opened 47 new stores"),
    ("Rowan revolving credit facility 2019: size, maturity, fee on the undrawn part?", "$750 million"),
    ("Rowan revolving credit facility 2019: size, maturity, fee on the undrawn part?", "March 29, 2024"),
    ("Rowan revolving credit facility 2019: size, maturity, fee on the undrawn part?", "0.10%"),
    ("Which convertible notes did Rowan issue in Nov 2019 - size and coupon?", "$450 million"),
    ("What sales range does Rowan's FY20 guidance give?", "$1.2 billion to $1.3 billion (Updated FY20 Outlook)"),
    ("Rowan fy20 eps outlook?", "$2.10 to $2.20 (Prior FY20 Outlook)"),
]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Was Hickory's net income in 2019 higher than Hornbeam's hardware revenue?",
            "Yes: Hickory Holdings Corporation net income for FY2019: $90 million (Hornbeam Holdings Corporation"
            " hardware revenue: $80 million).",
        ),
        (
            "Which is bigger: Hickory's 2018 net income or Hornbeam's 2019 subscription revenue?",
            "Hornbeam Holdings Corporation subscription revenue FY2019: $300 million (Hickory Holdings Corporation"
            " net income FY2018: $80 million). Of these it is the higher.",
        ),
        (
            "How much higher was Hornbeam's total revenue than Hickory's net income in 2019?",
            "380 - 90 = $290 million",
        ),
        (
            "Hickory 2018 net income, Hornbeam 2019 total revenue",
            "net income FY2018: $80 million; Hornbeam Holdings Corporation total revenue FY2019: $380 million.",
        ),
        (
            "Compare Hickory's net income in 2018 with Hornbeam's total revenue in 2019",
            "net income FY2018: $80 million; Hornbeam Holdings Corporation total revenue FY2019: $380 million.",
        ),
        (
            "Who earned less in 2019, Hickory or Hornbeam?",
            "Hornbeam Holdings Corporation has the lower net income: $70",
        ),
        ("Did Hickory earn more in 2019 than in 2018?", "Yes: net income of Hickory Holdings Corporation rose by $10"),
        ("Did Hornbeam earn less in 2019 than in 2018?", "Yes: net income of Hornbeam Holdings Corporation fell by $5"),
        ("How many of Hickory's employees worked in sales at the end of 2019?", "1,200 were in sales"),
        ("hickory us headcount end of 2019", "including approximately 4,200 people within the United States"),
        ("How many Hickory staff worked in product R&D at the end of 2019?", "4,000 were in product research"),
        (
            "Compare Hickory's revenue with its net income in 2019",
            "$900 million; net income: $90 million.",
        ),
    ],
)
def test_a_question_of_several_companies_or_of_none_of_its_lines(tables: Workspace, question: str, said: str) -> None:
    assert said in tables.ask(question).answer.text


@pytest.mark.parametrize(("question", "said"), IN_WORDS)
def test_what_is_asked_in_words_is_answered_by_the_sentence_or_line_about_it(
    tables: Workspace, question: str, said: str
) -> None:
    assert said in tables.ask(question, filings="rowan").answer.text


RANKED = [
    ("willow", "Second-biggest component of Willow's other accrued liabilities in 2019?", "Taxes of"),
    (
        "willow",
        "Willow: top 2 items in other accrued liabilities at 2019 year-end (excluding 'other')",
        "1. Wages and salaries: $40 million; 2. Taxes: $25 million.",
    ),
    (
        "willow",
        "Of the items that Willow accrued to cover claims in other accrued liabilities, which was the largest in 2019?",
        "",
    ),
    ("willow", "Which other accrued liabilities category of Willow rose the most in 2019?", "Wages and salaries of"),
    ("birch", "Top two segments of Birch by 2019 net sales and their shares", "1. Systems: 52.3%; 2. Modules: 47.7%."),
    (
        "linden",
        "Linden 2019: which region had the highest and which the lowest comparable sales?",
        "1. Asia Pacific: 6.5%; 2. Europe: 0.8%; 3. North America: -1.1%.",
    ),
    ("birch", "Which segment shrank the fastest in 2019?", "Systems of"),
    ("birch", "Which segment had lower total net sales in 2019 than in 2018?", "Systems: -8.2%"),
    ("hazel", "Which segment earned the most in 2019?", "higher operating"),
    ("birch", "Rank Birch's segments by pretax segment income in 2019", "divides pretax segment income by segment"),
    (
        "hazel",
        "Which had the highest operating profit in 2019, Pet or North America Retail?",
        "North America Retail of",
    ),
    (
        "tansy",
        "Tansy's fastest growing net sales category in 2019, Bitcoin revenue or advertising?",
        "Bitcoin revenue of",
    ),
    ("yew", "Which segment of Yew had the highest operating profit in 2019, and at what margin?", "40 / 400 = 10.0%"),
    ("yew", "Yew 2019: biggest segment by operating profit, and how high was it?", "Parcel of"),
    (
        "pecan",
        "Pecan's net sales by region in 2019: top 2 outside Latin America?",
        "Canada: $480 million; 2. Asia Pacific",
    ),
    (
        "dogwood",
        "Dogwood operating leases: which of the years 2020-2022 has the largest payments as of YE2019?",
        "2020 of",
    ),
    ("sumac", "Which component of Sumac's growth was the largest in 2019?", ""),
]


@pytest.mark.parametrize(("name", "question", "said"), RANKED)
def test_what_is_ranked_is_named_with_its_figure(tables: Workspace, name: str, question: str, said: str) -> None:
    answer = tables.ask(question, filings=name)
    assert answer.refused or "Not found" in answer.answer.text if not said else said in answer.answer.text, answer


@pytest.mark.parametrize(
    ("name", "question", "said"),
    [
        (
            "zinnia",
            "Zinnia product warranty rollforward 2018 - provisions, settlements and closing balance?",
            ("$106 million", "$92 million", "$51 million"),
        ),
        (
            "zinnia",
            "Zinnia product warranty 2018: provisions, settlements and ending balance",
            ("$106 million", "$92 million", "$51 million"),
        ),
        (
            "yarrow",
            "Yarrow content obligations at December 31, 2019: total, and percent due within one year",
            ("$100", "30.0%"),
        ),
    ],
)
def test_what_is_listed_behind_a_colon_is_of_what_stands_before_it(
    tables: Workspace, name: str, question: str, said: tuple[str, ...]
) -> None:
    text = tables.ask(question, filings=name).answer.text
    assert all(each in text for each in said), text


def test_an_outlook_does_not_answer_for_a_line_that_it_lacks(tables: Workspace) -> None:
    assert tables.ask("What market share does Rowan's FY20 guidance give?", filings="rowan").refused
