import { type Check, type Level, type Outcome, Skipped, Violation } from './check.ts';
import type { Subject } from './subject.ts';

export interface Result {
  readonly check: Check;
  readonly outcome: Outcome;
}

/**
 * Runs the checks one after the other, whatever became of the one before, and gives each result as it comes.
 * A check whose needs are not met is skipped.
 */
export async function* runChecks(subject: Subject, checks: readonly Check[]): AsyncGenerator<Result> {
  for (const check of checks) {
    const lacking = lackOf(check, subject);
    yield {
      check,
      outcome: lacking === undefined ? await runOne(check, subject) : { kind: 'skip', why: lacking },
    };
  }
}

async function runOne(check: Check, subject: Subject): Promise<Outcome> {
  try {
    const warnings = await check.run(subject);
    return { kind: 'pass', warnings: warnings ?? [] };
  } catch (error) {
    if (error instanceof Skipped) return { kind: 'skip', why: error.message };
    if (error instanceof Violation) {
      const { message: why, exchange } = error;
      return { kind: 'fail', why, ...(exchange === undefined ? {} : { exchange }) };
    }
    throw error;
  }
}

const LEVELS: readonly Level[] = ['none', 'safe', 'all'];

/** What the check needs and the subject lacks; undefined when nothing does. */
function lackOf({ needs = {} }: Check, subject: Subject): string | undefined {
  const { revisions = [61, 62], level = 'none', archiving } = needs;
  if (!revisions.includes(subject.revision)) return `not in revision ${subject.revision}`;
  if (LEVELS.indexOf(level) > LEVELS.indexOf(subject.level)) return `changes things: --changes ${level}`;
  if (needs.v0 === true && !subject.v0) return 'the server has no V0';
  if (archiving === true && subject.archiving !== true) return 'the instance has no continuous archiving';
  if (archiving === false && subject.archiving !== false)
    return 'the instance has continuous archiving, or does not tell';
  if (needs.target === true && subject.target === undefined) return 'needs --target';
  if (needs.readonlyToken === true && subject.readonlyApi === undefined) return 'needs --readonly-token-file';
  if (needs.key === true && subject.key === undefined) return 'needs --key-file';
  return undefined;
}
