"""The tools over MCP, as any client of it calls them, in ten lines (extra `mcp`)."""

import asyncio

from mcp import ClientSession, StdioServerParameters, stdio_client


async def main() -> None:
    server = StdioServerParameters(command="fin-agent", args=["mcp", "--index", "my-index"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        question = {"question": "What was Harborlight's net income in FY2023?"}
        print((await session.call_tool("answer_question", question)).content[0].text)


asyncio.run(main())
