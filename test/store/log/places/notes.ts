import { hash } from 'node:crypto';
import type { ArmedCall } from '../../../../src/store/log/checkpoint.ts';
import type { Signer } from '../../../../src/store/log/signer.ts';

export const ORIGIN = 'lifeboat/0123456789abcdef';

/** A signed checkpoint of an invented history: its root follows from the size and the name of the history. */
export function noteOf(
  signer: Signer,
  size: number,
  history = 'one',
  armed: readonly ArmedCall[] = [],
): string {
  return signer.sign({ origin: ORIGIN, size, root: hash('sha256', `${history} ${size}`, 'hex'), armed });
}

export function armedCall(intent: string): ArmedCall {
  return {
    stream: 'run/01J',
    instance: 'orders',
    verb: 'restoreBackup',
    intent,
    at: '2026-03-01T02:59:00.000Z',
  };
}
