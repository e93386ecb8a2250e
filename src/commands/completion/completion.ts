import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The line that asks for files; no value begins with a colon. */
export const FILES = ':files';

/*
 * The scripts ask `lifeboat complete` word by word, and so never change. Words are arguments, never
 * evaluated: completion must not run the line, as @bomb.sh/tab 0.0 and completions in cobra's style do with
 * `eval`.
 */
const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for lifeboat; in ~/.bashrc: source <(lifeboat completion bash)
_lifeboat() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(command lifeboat complete bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ \${COMPREPLY[0]-} == ${FILES} ]]; then
        COMPREPLY=()
        compopt -o default 2>/dev/null
    fi
}
complete -F _lifeboat lifeboat
`,
  zsh: `#compdef lifeboat
# zsh completion for lifeboat; in ~/.zshrc, after compinit: source <(lifeboat completion zsh)
_lifeboat() {
    local -a lines
    lines=("\${(@f)$(command lifeboat complete zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
    [[ \${words[CURRENT]} == -*=* ]] && compset -P '*='
    if [[ \${lines[1]} == ${FILES} ]]; then
        _files
    elif [[ -n \${lines[1]} ]]; then
        _describe lifeboat lines
    fi
}
if [[ \${funcstack[1]} == _lifeboat ]]; then
    _lifeboat "$@"
else
    compdef _lifeboat lifeboat
fi
`,
  fish: `# fish completion for lifeboat; in ~/.config/fish/config.fish: lifeboat completion fish | source
function __lifeboat_complete
    set -l typed (commandline -opc)
    set -l last (commandline -ct)
    set -l lines (command lifeboat complete fish -- $typed[2..-1] "$last" 2>/dev/null)
    if test "$lines[1]" = ${FILES}
        __fish_complete_path "$last"
    else
        printf '%s\\n' $lines
    end
end
complete -c lifeboat -f -a '(__lifeboat_complete)'
`,
};

export async function completion(context: CommandContext, [shell]: readonly string[]): Promise<number> {
  context.stdout.write(SCRIPTS[shell as Shell]);
  return EXIT.closed;
}
