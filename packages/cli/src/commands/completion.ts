import { defineCommand } from '../command.ts';
import { Failure } from '../failure.ts';

const SCRIPTS: Readonly<Record<string, string>> = {
  // Readline replaces what follows the last of : = @, and the result is typed into the line as it is: hence %q.
  bash: [
    '_strongroom() {',
    '  local line=${COMP_LINE:0:COMP_POINT} last cut word',
    '  local -a words',
    '  IFS=$\' \\t\' read -r -a words <<< "$line"',
    "  [[ $line == *[$' \\t'] ]] && words+=('')",
    '  last=${words[${#words[@]}-1]}',
    '  cut=${last%"${last##*[:=@]}"}',
    '  COMPREPLY=()',
    '  while IFS= read -r word; do',
    '    [[ $word == *[/=] ]] && compopt -o nospace 2>/dev/null',
    '    COMPREPLY+=("$(printf %q "${word#"$cut"}")")',
    '  done < <(strongroom __complete "${words[@]:1}" 2>/dev/null)',
    '}',
    'complete -o default -F _strongroom strongroom',
  ].join('\n'),
  zsh: [
    '#compdef strongroom',
    '_strongroom() {',
    '  local -a found',
    '  found=("${(@f)$(strongroom __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")',
    '  found=(${found:#})',
    '  (( $#found )) || { _files; return }',
    "  compadd -S '' -- ${(M)found:#*[/=]}",
    '  compadd -- ${found:#*[/=]}',
    '}',
    'compdef _strongroom strongroom',
  ].join('\n'),
  fish: [
    'function __strongroom_complete',
    '  set -l words (commandline -opc) (commandline -ct)',
    '  set -l found (strongroom __complete $words[2..-1] 2>/dev/null)',
    '  if test (count $found) -gt 0',
    "    printf '%s\\n' $found",
    '  else',
    '    __fish_complete_path (commandline -ct)',
    '  end',
    'end',
    "complete -c strongroom -f -a '(__strongroom_complete)'",
  ].join('\n'),
};

export default defineCommand({
  name: 'completion',
  synopsis: 'Print a script that completes words in a shell',
  description:
    'Prints a script for bash, zsh or fish. It asks this program for the words: commands, flags and their values, and the paths and names that the server shows to the stored token.',
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
