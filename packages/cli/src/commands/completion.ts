import { defineCommand } from '../command.ts';
import { Failure } from '../failure.ts';

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: [
    '_strongroom() {',
    "  local IFS=$'\\n'",
    '  COMPREPLY=($(strongroom __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))',
    '}',
    'complete -o default -F _strongroom strongroom',
  ].join('\n'),
  zsh: [
    '#compdef strongroom',
    '_strongroom() {',
    '  local -a found',
    '  found=("${(@f)$(strongroom __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")',
    '  compadd -- $found',
    '}',
    'compdef _strongroom strongroom',
  ].join('\n'),
  fish: "complete -c strongroom -f -a '(strongroom __complete (commandline -opc)[2..-1] (commandline -ct))'",
};

export default defineCommand({
  name: 'completion',
  synopsis: 'Print a script that completes words in a shell',
  description: 'Prints a script for bash, zsh or fish. It asks this program for the words, so it never falls behind.',
  args: ['SHELL'],
  local: true,
  flags: {},
  examples: [{ text: 'Complete words in this bash:', command: 'completion bash > ~/.local/share/bash-completion/completions/strongroom' }],
  async run({ args: [shell = ''], out }) {
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (script === undefined) throw new Failure(`No completion for "${shell}": expected ${Object.keys(SCRIPTS).join(', ')}`);
    out.line(script);
  },
});
