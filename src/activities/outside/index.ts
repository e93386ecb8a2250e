import { setTimeout as rest } from 'node:timers/promises';
import type { OutsideVerb } from '../../../machines/verbs.ts';
import { LifeboatError } from '../../base/errors.ts';
import { msOf } from '../../base/instant.ts';
import { type ActivityOf, ok, readVerb, repeatableVerb } from '../activity.ts';
import type { OutsideDeps } from '../deps.ts';
import { askOutside } from './ask-outside.ts';
import { runCommand, runOnce } from './run-command.ts';

type OutsideActivities = { readonly [V in OutsideVerb]: ActivityOf<V> };

/** The activities of a plan's step that is no runbook. */
export function outsideActivities(deps: OutsideDeps): OutsideActivities {
  return {
    askOutside: askOutside(deps),
    runCommand: runCommand(deps),
    runOnce: runOnce(deps),
    tellPeople: tellPeople(deps),
    waitFor: waitFor(),
  };
}

/** Sends a text to people. `notify.untold`: no target took it. Sent again after a crash. */
function tellPeople({ tell }: OutsideDeps): ActivityOf<'tellPeople'> {
  return repeatableVerb(async ({ to, text }, { signal }) => {
    const told = await tell(to, text, signal);
    if (told.length > 0) return ok({ told });
    throw new LifeboatError('notify.untold', 'no target took the notification', {
      hints: ['try them one by one: lifeboat notify test'],
    });
  });
}

/** A wait is at most checked this often, so that a clock that was set is noticed. */
const LOOK_MS = 10_000;

/** Lets time pass since the run came to this step; after a crash, only what is left of it. */
function waitFor(): ActivityOf<'waitFor'> {
  return readVerb(async ({ ms }, { arrivedAt, now, report, signal }) => {
    const untilMs = (arrivedAt === undefined ? now().getTime() : msOf(arrivedAt)) + ms;
    report({ kind: 'wait', untilMs, what: 'the time of the step' });
    for (;;) {
      const left = untilMs - now().getTime();
      if (left <= 0) return ok({});
      await rest(Math.min(left, LOOK_MS), undefined, { signal });
    }
  });
}
