"""The command ``mgraph completion``: the script by which a shell completes mgraph's commands and options."""

import click
from click.shell_completion import get_completion_class

from .commands import main


@main.command(epilog="Example: mgraph completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    r"""Print the script that makes a shell complete the commands, options and files of mgraph.

    \b
    bash: mgraph completion bash > ~/.mgraph-completion && echo '. ~/.mgraph-completion' >> ~/.bashrc
    zsh:  mgraph completion zsh > ~/.mgraph-completion && echo '. ~/.mgraph-completion' >> ~/.zshrc
    fish: mgraph completion fish > ~/.config/fish/completions/mgraph.fish
    """
    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(main, {}, "mgraph", "_MGRAPH_COMPLETE").source())
