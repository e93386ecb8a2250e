import type { Failure } from '../../src/base/failure.ts';
import type { OperatorEvent, QuestionOption } from './question.ts';

/**
 * What may be done beside waiting for the service. `done` asks for the evidence that it is over; none where
 * only the service can say so.
 */
export function besideWaiting<Event extends OperatorEvent>(done?: string): readonly QuestionOption<Event>[] {
  const options: readonly (QuestionOption | undefined)[] = [
    {
      event: { type: 'operator.lookAgain' },
      label: 'look again now',
      hint: 'asks the service now, then goes on waiting; nothing is sent',
    },
    done === undefined
      ? undefined
      : {
          event: { type: 'operator.markDone' },
          label: 'it is done: go on',
          hint: 'it counts as done on your word, and the record says so',
          needs: { what: 'evidence', prompt: done },
        },
    {
      event: { type: 'operator.giveUp' },
      label: 'give up waiting',
      hint: 'shows the ways out; the service goes on with it, and nothing is sent',
    },
  ];
  return options.filter(
    (option) => option !== undefined,
  ) as readonly QuestionOption[] as readonly QuestionOption<never>[];
}

/** A wait that the operator has ended. What was waited for may still come. */
export function givenUp(what: string): Failure {
  return {
    code: 'wait.given-up',
    shortMessage: `waiting for ${what} was given up; the service may still go on with it`,
    hints: [
      `trying again waits for ${what} again, and sends nothing`,
      'leaving is safe as well: `lifeboat resume` goes on from here',
      'the dashboard shows its state',
    ],
    evidence: {},
  };
}
