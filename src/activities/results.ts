import { failureOf, LifeboatError, type LifeboatErrorOptions } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import type { Json } from '../store/journal.ts';
import type { ActivityResult, LedgerFact, ReadActivity, RepeatableActivity } from './activity.ts';

export function ok<Output>(output: Output, ledger: readonly LedgerFact[] = []): ActivityResult<Output> {
  return { ok: true, output, ledger };
}

export function no(
  code: string,
  shortMessage: string,
  options: LifeboatErrorOptions = {},
): ActivityResult<never> {
  return { ok: false, failure: new LifeboatError(code, shortMessage, options).toFailure() };
}

export function because(cause: unknown): ActivityResult<never> {
  return { ok: false, failure: isFailure(cause) ? cause : failureOf(cause) };
}

/** A verb that reads or computes. What it throws becomes its failure. */
export function readVerb<Input, Output>(
  run: ReadActivity<Input, NoInfer<Output>>['run'],
): ReadActivity<Input, Output> {
  return { kind: 'read', run: (input, context) => run(input, context).catch(because) };
}

/** A repeatable verb that changes something. What it throws becomes its failure. */
export function repeatableVerb<Input, Output>(
  run: RepeatableActivity<Input, NoInfer<Output>>['run'],
): RepeatableActivity<Input, Output> {
  return { kind: 'repeatable', run: (input, context) => run(input, context).catch(because) };
}

/** The failure of a lost answer to a call that is harmless to repeat. */
export function harmless(failure: Failure): Failure {
  return { ...failure, hints: ['the answer was lost; making the same change again does no harm'] };
}

/** Data in journal form: undefined fields are omitted. */
export function asJson(value: object): Json {
  return JSON.parse(JSON.stringify(value));
}

function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && !(value instanceof Error) && 'code' in value;
}
