/** A command of lifeboat that a document names. */
export interface NamedCommand {
  /** The command, its sub-command and a runbook, as far as they are words and not placeholders. */
  readonly words: readonly string[];
  readonly flags: readonly string[];
  readonly text: string;
}

/** The commands of lifeboat in the code of a Markdown document. */
export function commandsIn(markdown: string): NamedCommand[] {
  return codeIn(markdown).flatMap(commandIn);
}

/** The code of a Markdown document: its spans, and each line of its fences and of what is indented. */
export function codeIn(markdown: string): string[] {
  const { fenced, rest } = withoutFences(markdown);
  const spans = [...rest.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '));
  const indented = rest.split('\n').filter((row) => row.startsWith('    '));
  return [...spans, ...fenced, ...indented];
}

function withoutFences(markdown: string): { readonly fenced: readonly string[]; readonly rest: string } {
  const fenced: string[] = [];
  const rest = markdown.replaceAll(
    /^ *```(\w*)\n([\s\S]*?)^ *```$/gm,
    (_, language: string, code: string) => {
      if (language !== 'mermaid') fenced.push(...code.split('\n'));
      return '';
    },
  );
  return { fenced, rest };
}

function commandIn(code: string): NamedCommand[] {
  const called = /^\s*(?:\$ )?(?:npm run )?lifeboat (?:-- )?(?<line>\S.*)$/.exec(code)?.groups?.['line'];
  if (called === undefined) return [];
  const [line = ''] = called.split(/\s+(?:#|>|\||&&|;)/);
  const parts = line.trim().split(/\s+/);
  const first = parts.findIndex((part) => !/^[a-z][\w-]*$/.test(part));
  const words = parts.slice(0, first === -1 ? parts.length : first);
  const flags = [...line.matchAll(/(?:^|[\s[])(--[a-z][\w-]*)/g)].map(([, flag = '']) => flag);
  return [{ words, flags, text: `lifeboat ${line.trim()}` }];
}
