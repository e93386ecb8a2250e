import { failureOf, LifeboatError, type LifeboatErrorOptions } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import type { Json } from '../store/journal.ts';
import type { ActivityResult, LedgerFact, ReadActivity, RepeatableActivity } from './activity.ts';

/** The verb did what it is for. */
export function ok<Output>(output: Output, ledger: readonly LedgerFact[] = []): ActivityResult<Output> {
  return { ok: true, output, ledger };
}

/** The verb failed, in words for a person. */
export function no(
  code: string,
  shortMessage: string,
  options: LifeboatErrorOptions = {},
): ActivityResult<never> {
  return { ok: false, failure: new LifeboatError(code, shortMessage, options).toFailure() };
}

/** The verb failed with what was thrown or returned. */
export function because(cause: unknown): ActivityResult<never> {
  return { ok: false, failure: isFailure(cause) ? cause : failureOf(cause) };
}

/** A verb that asks or computes. What it throws is its failure. */
export function readVerb<Input, Output>(
  run: ReadActivity<Input, NoInfer<Output>>['run'],
): ReadActivity<Input, Output> {
  return { kind: 'read', run: (input, context) => run(input, context).catch(because) };
}

/** A verb that changes something and may be repeated. What it throws is its failure. */
export function repeatableVerb<Input, Output>(
  run: RepeatableActivity<Input, NoInfer<Output>>['run'],
): RepeatableActivity<Input, Output> {
  return { kind: 'repeatable', run: (input, context) => run(input, context).catch(because) };
}

/** The failure of a lost answer to a call that does no harm when it is made again. */
export function harmless(failure: Failure): Failure {
  return { ...failure, hints: ['the answer was lost; making the same change again does no harm'] };
}

/** Data as it is journalled: a field that is undefined is not there. */
export function asJson(value: object): Json {
  return JSON.parse(JSON.stringify(value));
}

function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && !(value instanceof Error) && 'code' in value;
}
