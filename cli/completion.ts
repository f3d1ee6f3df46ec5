/** `kgwalk completion`: scripts that let a shell complete commands, options, presets, data sets and runs. */
import { argv, execPath } from 'node:process';
import { Argument, type Command } from 'commander';
import { printLine } from './output.js';

type Shell = keyof typeof scripts;

/** Adds `kgwalk completion` and the hidden command that its scripts call. */
export function register(program: Command): void {
  program
    .command('completion')
    .description('print a script that lets a shell complete commands, options, presets, data sets and runs')
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .addHelpText('after', installing)
    .action((name: Shell) => {
      const asked = [execPath, argv[1]!, asking].map(quoted).join(' ');
      printLine(scripts[name](asked));
    });
  program
    .command(asking, { hidden: true })
    .argument('[words...]')
    .helpOption(false)
    .action(async (words: string[]) => {
      const { completions } = await import('./completions.js');
      for (const { word, about } of await completions(program, words)) printLine(about ? `${word}\t${about}` : word);
    });
}

/** Called with `--` and the words after `kgwalk`, the last one partial or empty; prints one candidate per line. */
const asking = '__complete';

const installing = `
Install permanently:
  bash   kgwalk completion bash >> ~/.bashrc
  zsh    kgwalk completion zsh >> ~/.zshrc
  fish   kgwalk completion fish > ~/.config/fish/completions/kgwalk.fish
Where kgwalk is installed in a folder: npx kgwalk completion …, and alias kgwalk='npx kgwalk'.`;

/** Quotes a path for single quotes of a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Without candidates the shell completes files. */
const scripts = {
  bash: (asked: string) => `_kgwalk() {
  local IFS=$'\\n'
  COMPREPLY=($(${asked} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
  # Names of runs may hold spaces: bash quotes what are files.
  [[ "\${COMPREPLY[*]}" == */* ]] && compopt -o filenames 2>/dev/null
}
complete -o default -F _kgwalk kgwalk`,

  zsh: (asked: string) => `_kgwalk() {
  local line
  local -a found
  for line in "\${(@f)$(${asked} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#found} )); then _describe kgwalk found; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _kgwalk kgwalk`,

  fish: (asked: string) => `function __kgwalk_complete
  ${asked} -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null
end
complete -c kgwalk -a '(__kgwalk_complete)'`,
};
