import { assign } from 'xstate';
import * as z from 'zod';
import type { RunContext } from '../context.ts';
import { lookFallback } from '../fallback/steps.ts';
import { RESTORES_CALL } from '../parts/baseline.ts';
import { PreflightFacts } from '../parts/task-data.ts';
import { changed } from '../setup.ts';
import { readRecord } from './before.ts';
import { failure } from './failing.ts';
import { when } from './guards.ts';
import { type Exits, type Phase, phase, type States, state, to } from './phase.ts';
import { task } from './task.ts';

export const PreflightSlice = () =>
  z.object({
    /** The instance as found; its baseline is that of the last look. */
    facts: PreflightFacts().optional(),
  });

/** V0 has only the lists; the facts say what it does not report. */
const GETS = [
  { method: 'GET', path: '', what: 'the instance and its state', optional: true },
  { method: 'GET', path: '/backups-config', what: 'retention, minimum key length', optional: true },
  { method: 'GET', path: '/backups', what: 'the newest backup, tasks under way' },
] as const;

/** For every run of the runbook, or by the context. */
type Asked = boolean | ((context: RunContext) => boolean);

interface Preflight {
  /** A failed instance does not block: it may need this restore. */
  readonly tolerant: Asked;
  /** A restore under way blocks: it would undo the change, or be disturbed by it. */
  readonly restores?: Asked;
  /** The backup has to be opened afterwards, so a key must be held. */
  readonly needsKey?: boolean;
  readonly needsAll?: boolean;
  readonly exits: Exits<'stop'>;
}

/** A person may pass a blocker with a reason. */
export function preflight(given: Preflight): Phase {
  return phase(headOf(given), (step) => looking(step, given, 'over'));
}

/** Also reads the recovery card on record. */
export function preflightAndRecord(given: Preflight): Phase {
  return phase(headOf(given), (step) => ({
    ...looking(step, given, 'readingRecord'),
    ...readRecord(step, 'over', to(given.exits.stop)),
  }));
}

function headOf({ needsAll = false, exits }: Preflight) {
  return {
    title: 'look at the instance',
    like: 'preflight',
    slice: needsAll ? undefined : ('decide' as const),
    fallback: lookFallback,
    exits,
  };
}

const WORDS = {
  looking: { title: 'looking at the instance' },
  lookingFailed: {
    title: 'the instance could not be read',
    ways: {
      retry: 'asks the service again; nothing has been changed',
      skip: { disabled: 'without these facts there is nothing to confirm' },
      markDone: { disabled: 'only the service can give these facts' },
    },
  },
  blocked: {
    title: 'something stands in the way',
    ways: {
      retry: 'asks the service again; nothing has been changed',
      skip: 'the run goes on despite this finding',
      markDone: 'how was it resolved?',
    },
  },
} as const;

/** `next` follows when nothing blocks the run. */
function looking(step: string, given: Preflight, next: string): States {
  const { tolerant, restores = false, needsKey = false, needsAll = false, exits } = given;
  const stop = to(exits.stop);
  const calls = needsAll ? GETS.map(({ method, path, what }) => ({ method, path, what })) : GETS;
  return {
    ...task('looking', {
      verb: 'preflight',
      ...WORDS.looking,
      calls: [...calls, ...(restores === false ? [] : [RESTORES_CALL])],
      input: (context) => ({
        instance: context.run.instance,
        tolerant: isAsked(tolerant, context) || undefined,
        restores: isAsked(restores, context) || undefined,
        needsKey: needsKey || undefined,
      }),
      keep: (context, facts) => ({
        ...changed(context, 'preflight', { facts }),
        ...changed(context, 'confirm', { drift: [] }),
      }),
      next: 'evaluating',
      failed: {
        step,
        ...WORDS.lookingFailed,
        stop,
      },
    }),
    evaluating: state({
      meta: { title: 'checking what was found' },
      always: [
        {
          guard: when(
            'something stands in the way',
            ({ preflight }) => (preflight.facts?.blockers.length ?? 0) > 0,
          ),
          target: 'blocked',
          actions: assign({ failure: ({ context }) => context.preflight.facts?.blockers[0] }),
        },
        { target: next },
      ],
    }),
    blocked: failure({
      step,
      ...WORDS.blocked,
      retry: 'looking',
      next,
      stop,
    }),
  };
}

function isAsked(asked: Asked, context: RunContext): boolean {
  return typeof asked === 'boolean' ? asked : asked(context);
}
