import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';

/** How a result is printed: for people, as JSON, or as YAML. */
export const FORMS = ['table', 'json', 'yaml'] as const;
export type OutputForm = (typeof FORMS)[number];

/** The flags `-o` and `--json` of one level of the command line. */
export interface FormFlags {
  readonly output?: OutputForm;
  readonly json?: boolean;
}

/**
 * The form that the flags ask for, before the command, after it, or both. Throws `usage.output` (exit 2) if
 * they disagree.
 */
export function formFrom(levels: readonly FormFlags[]): OutputForm {
  const asked = levels.flatMap(({ output, json }) => [output ?? [], json === true ? ('json' as const) : []]);
  const [first = 'table', ...others] = asked.flat();
  const other = others.find((form) => form !== first);
  if (other === undefined) return first;
  throw new LifeboatError('usage.output', `two output formats are named: ${first} and ${show(other)}`, {
    hints: ['--json is short for -o json', 'nothing was done'],
    exitCode: EXIT.usage,
  });
}

/**
 * The form of an error in the command line itself: read from the words alone, so that a misspelt flag beside
 * it does no harm.
 */
export function formOfErrors(argv: readonly string[]): OutputForm {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  const forms = words.flatMap((word, at) => {
    if (word === '--json') return ['json'];
    if (word === '-o' || word === '--output') return [words[at + 1] ?? ''];
    const [, attached] = /^(?:--output=|-o=?)(.+)$/u.exec(word) ?? [];
    return attached === undefined ? [] : [attached];
  });
  return FORMS.find((form) => form === forms.at(-1)) ?? 'table';
}
