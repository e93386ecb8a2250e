import { excerptOf, mask, plain } from './exchange.ts';
import type { Result } from './suite.ts';

/** One check as lines for a person: verdict, id and promise, and below it what is to be said. */
export function linesOf({ check, outcome }: Result, secrets: readonly string[]): readonly string[] {
  const clean = (text: string) => plain(mask(text, secrets));
  const head = `${check.id} - ${check.title} (${check.section})`;
  if (outcome.kind === 'skip') return [`skip ${head}: ${clean(outcome.why)}`];
  if (outcome.kind === 'pass') {
    return [`ok   ${head}`, ...outcome.warnings.map((warning) => `     warning: ${clean(warning)}`)];
  }
  const seen = outcome.exchange === undefined ? [] : [`     ${excerptOf(outcome.exchange, secrets)}`];
  return [`FAIL ${head}`, `     ${clean(outcome.why)}`, ...seen];
}

/** The same as one object. */
export function objectOf({ check, outcome }: Result, secrets: readonly string[]): object {
  const { id, section, title } = check;
  const clean = (text: string) => plain(mask(text, secrets));
  const base = { id, section, title, outcome: outcome.kind };
  if (outcome.kind === 'skip') return { ...base, why: clean(outcome.why) };
  if (outcome.kind === 'pass') return { ...base, warnings: outcome.warnings.map(clean) };
  const { exchange, why } = outcome;
  return {
    ...base,
    why: clean(why),
    ...(exchange === undefined ? {} : { exchange: excerptOf(exchange, secrets) }),
  };
}

/** `N passed, N failed, N skipped` */
export function summaryOf(results: readonly Result[]): string {
  const count = (kind: string) => results.filter(({ outcome }) => outcome.kind === kind).length;
  return `${count('pass')} passed, ${count('fail')} failed, ${count('skip')} skipped`;
}
