import type { Failure } from '../../src/base/failure.ts';
import { counted } from '../../src/base/quantity.ts';
import type { OnceSlice } from './once-slice.ts';

/**
 * That nothing came of the sends of a task, with what was answered, and what stood in the way, as far as it
 * is known. `what` has its article.
 */
export function neverDone({ absences, absence }: OnceSlice, what: string): Failure {
  const { lost, evidence } = absence ?? {};
  const busy = underWay(evidence);
  const shown = {
    ...(lost === undefined ? {} : { answer: lost.shortMessage }),
    ...(evidence === undefined ? {} : { list: evidence }),
  };
  if (lost?.code === 'service.conflict') {
    const tail = busy.length === 0 ? '' : `; under way: ${what.replace(/^an? /u, '')} ${busy.join(', ')}`;
    return {
      code: 'service.never-done',
      shortMessage: `the service refused it: ${lost.shortMessage}${tail}`,
      hints: ['its list shows that nothing was done', 'wait until what is under way is over, then try again'],
      evidence: shown,
    };
  }
  return {
    code: 'service.never-arrived',
    shortMessage:
      absences === 1
        ? `the request for ${what} never arrived`
        : `the request for ${what} was sent ${counted(absences, 'time')} and never arrived`,
    hints: [
      'the service shows that nothing has happened',
      ...(lost === undefined ? [] : [`what came back: ${lost.shortMessage}`]),
      'check the network to the service, then try again',
    ],
    evidence: shown,
  };
}

/** What was under way before the request, by the evidence of the judgement. */
function underWay(evidence: unknown): readonly number[] {
  const ids =
    typeof evidence === 'object' && evidence !== null ? Reflect.get(evidence, 'underWay') : undefined;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'number') : [];
}
