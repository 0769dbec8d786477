"""`arcreach methods`: list the methods of inverse kinematics."""

from __future__ import annotations

from typing import Annotated

import typer

from arcreach.cli.arguments import AsJson
from arcreach.cli.output import console, plain, print_json
from arcreach.errors import MethodError
from arcreach.ik.method import ALL_ELEMENTS, markdown_table
from arcreach.ik.method import methods as known_methods


def methods(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the methods of inverse kinematics."""
    if markdown:
        if as_json:
            raise MethodError("--markdown and --json are both given; give one of them")
        typer.echo(markdown_table(), nl=False)
        return
    found = known_methods().values()
    if as_json:
        print_json(
            [
                {
                    "name": method.name,
                    "summary": method.summary,
                    "source": method.source,
                    "elements": sorted(method.elements),
                    "targets": sorted(method.targets),
                    "variants": method.variants,
                    "options": sorted(method.options),
                }
                for method in found
            ]
        )
        return
    out = console()
    for method in found:
        out.print(f"[bold]{method.name}[/bold]  {plain(f'{method.summary} [{method.source}]')}", soft_wrap=True)
        elements = "all" if method.elements == ALL_ELEMENTS else ", ".join(sorted(method.elements))
        facts = f"elements: {elements}; targets: {', '.join(sorted(method.targets))}"
        facts += f"; variants: {', '.join(method.variants)}" if method.variants else ""
        facts += f"; options: {', '.join(sorted(method.options))}" if method.options else ""
        out.print(f"    {facts}", soft_wrap=True, highlight=False)
