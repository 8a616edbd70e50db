"""What the page offers to ask."""

EXAMPLES = (
    {
        "question": "What is the total revenue by region? Show a chart.",
        "sample": "sales.csv",
        "icon": "chart",
    },
    {"question": "What is 18% of 24,350?", "icon": "calculator"},
    {
        "question": "When it is 9:30 in Berlin, what time is it in Tokyo?",
        "icon": "clock",
    },
)
"""First questions for a newcomer; the first brings its spreadsheet along."""
