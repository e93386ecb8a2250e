import { assign } from 'xstate';
import * as z from 'zod';
import type { RunContext } from '../context.ts';
import { proveFallback } from '../fallback/backing-up.ts';
import { DownloadedFile, NegativeTest, Verification } from '../parts/task-data.ts';
import { notOffered } from '../parts/verb-words.ts';
import { assignWith, changed } from '../setup.ts';
import { choice, type RunQuestion, sizeOf, stop } from './asking.ts';
import { noteReason } from './failing.ts';
import { when } from './guards.ts';
import { door, type Edges, type Exits, type Phase, phase, type States, state, to } from './phase.ts';
import { task } from './task.ts';

export const ProofSlice = () =>
  z.object({
    file: DownloadedFile().optional(),
    verification: Verification().optional(),
    negative: NegativeTest().optional(),
  });

interface Proof<Exit extends string = never> {
  /** The cost of continuing without the proof. */
  readonly without: string;
  /** `notInForce`: another key than the new one opens it. */
  readonly exits: Exits<'unproven' | 'stop' | Exit>;
}

/** Downloads the backup, opens it with a held key and reads it to its last byte. */
export function prove(given: Proof): Phase {
  return phase(headOf('held-key', given), (step) => reading(step, given, { next: 'over', ...DISCARDED }));
}

/** Shows that the new key is in force. Keeps the file, so that other keys can be tried on it. */
export function proveNewKey(given: Proof<'notInForce'>): Phase {
  return phase(headOf('new-key', given), (step) => ({
    ...reading(step, given, { next: 'evaluating', ...KEPT }),
    evaluating: evaluatingKey('over', given.exits.notInForce),
  }));
}

const PROVE_AND_RECORD_WORDS = {
  recording: { title: 'writing the proof' },
  recordingFailed: {
    title: 'the proof is not written',
    ways: {
      retry: 'writes the proof again',
      skip: 'the card names the backup, and the ledger does not know it as proven',
      markDone: { disabled: 'only lifeboat writes this record' },
    },
  },
} as const;

/** Records the proof at once, because the run continues with something else. */
export function proveAndRecord(given: Proof<'notInForce'>): Phase {
  const { exits } = given;
  return phase(headOf('held-key', given), (step) => ({
    ...reading(step, given, { next: 'evaluating', ...DISCARDED }),
    evaluating: evaluatingKey('recording', exits.notInForce),
    ...task('recording', {
      door: door(step, 'record'),
      verb: 'recordProof',
      ...PROVE_AND_RECORD_WORDS.recording,
      input: proofOf,
      next: 'over',
      failed: {
        step,
        ...PROVE_AND_RECORD_WORDS.recordingFailed,
        next: 'over',
        stop: to(exits.stop),
      },
    }),
  }));
}

function headOf(expects: 'new-key' | 'held-key', { exits }: Proof) {
  return {
    title: expects === 'new-key' ? 'verify with the new key' : 'read it to its last byte',
    like: 'prove',
    fallback: proveFallback(expects),
    exits,
  };
}

/** What happens to the file, and what a person does who has proven or downloaded the backup. */
interface OfFile {
  readonly purpose: 'prove' | 'archive';
  readonly byHand: string;
  readonly on?: Edges;
}

const DISCARDED: OfFile = { purpose: 'prove', byHand: 'where and how was the backup proven?' };

const KEPT: OfFile = {
  purpose: 'archive',
  byHand: 'path of the file that you downloaded',
  on: {
    'operator.markDone': {
      target: 'verifying',
      actions: assignWith<{ text: string }>(({ context, event }) =>
        changed(context, 'proof', { file: { path: event.text, bytes: 0, sha256: '', seconds: 0 } }),
      ),
    },
  },
};

const READING_WORDS = {
  downloading: {
    title: 'downloading the backup',
    calls: [{ method: 'GET', path: '/backups/:id/download', what: 'the backup, encrypted' }],
  },
  verifying: { title: 'reading the backup to its last byte' },
} as const;

/** `next` follows once the backup is proven. */
function reading(step: string, given: Proof, { next, ...file }: OfFile & { readonly next: string }): States {
  const { exits } = given;
  const without = { target: to(exits.unproven), hint: given.without };
  const stop = to(exits.stop);
  return {
    ...task('downloading', {
      verb: 'downloadBackup',
      id: 'download',
      ...READING_WORDS.downloading,
      warning: (context) => {
        const { id, downloadable } = provenBackup(context) ?? {};
        return id === undefined || downloadable !== false ? undefined : notOffered(id);
      },
      input: (context) => ({
        id: provenBackup(context)?.id ?? 0,
        size: provenBackup(context)?.size,
        purpose: file.purpose,
      }),
      keep: (context, file) => changed(context, 'proof', { file }),
      next: 'verifying',
      failed: {
        step,
        title: 'the download failed',
        next: without.target,
        stop,
        ways: {
          retry: 'downloads it again',
          skip: without.hint,
          markDone: file.byHand,
        },
        ...(file.on && { on: file.on }),
      },
    }),
    ...task('verifying', {
      verb: 'verifyBackup',
      id: 'verify',
      ...READING_WORDS.verifying,
      input: ({ key: { stored }, preflight: { facts }, proof: { file }, ...context }) => ({
        path: file?.path ?? '',
        backup: provenBackup({ preflight: { facts }, backup: context.backup })?.id ?? 0,
        expected: stored?.fingerprint ?? facts?.currentKey,
      }),
      keep: (context, verification) => changed(context, 'proof', { verification }),
      next: 'comparing',
      failed: {
        step,
        title: 'the backup is not proven',
        retry: 'downloading',
        next: without.target,
        stop,
        ways: {
          retry: 'downloads the backup again and reads it to its end',
          skip: without.hint,
          markDone: 'how was it verified, with which result?',
        },
      },
    }),
    comparing: state({
      meta: { title: 'whether it holds about as much as the last proven one' },
      always: [
        { guard: when('it holds less than half of it', hasShrunk), target: 'shrunk' },
        { target: next },
      ],
    }),
    shrunk: state({
      tags: ['question'],
      meta: {
        title: 'the backup is much smaller than the last proven one',
        question: askAboutShrunk(without.hint),
      },
      on: {
        'operator.goOnWithout': { target: next, actions: noteReason(step, 'much smaller, and proven: ') },
        'operator.retry': 'downloading',
        'operator.skip': { target: without.target, actions: noteReason(step) },
        'operator.stop': stop,
      },
    }),
  };
}

function evaluatingKey(next: string, notInForce: string) {
  return state({
    meta: { title: 'which key opened it' },
    always: [{ guard: when('the new key is in force', isInForce), target: next }, { target: to(notInForce) }],
  });
}

function hasShrunk({ proof }: RunContext): boolean {
  return proof.verification?.shrunkFrom !== undefined;
}

/** The backup was read to its end, but only a person knows whether it may hold so little data. */
function askAboutShrunk(unproven: string) {
  return (context: RunContext): RunQuestion => {
    const { verification } = context.proof;
    const { contentBytes, shrunkFrom } = verification ?? {};
    const id = provenBackup(context)?.id;
    return choice(
      `backup ${id} holds ${sizeOf(contentBytes)}; backup ${shrunkFrom?.id}, the last proven one, held ${sizeOf(shrunkFrom?.contentBytes)}`,
      [
        {
          event: { type: 'operator.retry' },
          label: 'download and read it again',
          hint: 'rules out that the file of this machine is another one',
        },
        {
          event: { type: 'operator.goOnWithout' },
          label: 'it is right: count it as proven',
          hint: 'only where you know why the data became less; the reason goes on record',
          needs: { what: 'reason', prompt: 'why does it hold so much less?' },
        },
        {
          event: { type: 'operator.skip' },
          label: 'go on without proof',
          hint: unproven,
          needs: { what: 'reason', prompt: 'why is it skipped?' },
        },
        stop,
      ],
    );
  };
}

function isInForce({ key, proof }: RunContext): boolean {
  return key.stored === undefined || proof.verification?.opens === key.stored.fingerprint;
}

export function provenBackup({ backup, preflight }: Pick<RunContext, 'backup' | 'preflight'>) {
  return backup.backup ?? preflight.facts?.newest;
}

export function proofOf(context: RunContext) {
  const backup = provenBackup(context);
  const { verification, negative } = context.proof;
  if (backup === undefined || verification === undefined)
    throw new Error('nothing is verified at this point');
  return { backup, verification, negative };
}

interface Negative {
  readonly keys: 'old' | 'other';
  readonly exits: Exits<'stop'>;
}

/** If another key opened the backup, opening it would prove nothing. */
export function negative({ keys, exits }: Negative): Phase {
  const title = keys === 'old' ? 'the old key must fail' : 'other keys must fail';
  const found =
    keys === 'old'
      ? { code: 'rotation.old-key-opens', words: 'an old key still opens the new backup' }
      : { code: 'backup.another-key-opens', words: 'another key opens the backup as well' };
  return phase({ title, like: 'negative', exits }, (step) => ({
    ...task('trying', {
      verb: 'negativeTest',
      title: `trying the ${keys} keys, which must fail`,
      input: ({ proof: { file, verification } }) => ({
        path: file?.path ?? '',
        except: verification?.opens ?? '',
      }),
      keep: (context, output) => changed(context, 'proof', { negative: output }),
      next: 'evaluating',
      failed: {
        step,
        title: 'the negative test did not pass',
        next: 'over',
        stop: to(exits.stop),
        ways: {
          retry: `tries the ${keys} keys on the backup again`,
          skip:
            keys === 'old'
              ? 'it stays unknown whether the old key still works'
              : 'it stays unknown whether another key opens it',
          markDone: `how was it tested that the ${keys} keys fail?`,
        },
      },
    }),
    evaluating: state({
      meta: { title: `whether one of the ${keys} keys opens it` },
      always: [
        {
          guard: when('one of them opens it', ({ proof }) => (proof.negative?.opened.length ?? 0) > 0),
          target: 'tryingFailed',
          actions: assign({
            failure: ({ context }) => ({
              code: found.code,
              shortMessage: `${found.words}: ${context.proof.negative?.opened.join(', ')}`,
              hints: ['the same key may be stored under two names: look at `lifeboat keys list`'],
              evidence: {},
            }),
          }),
        },
        { target: 'over' },
      ],
    }),
  }));
}
