import { adoptions, lookAgain, sendAgain } from '../parts/doubt-question.ts';
import { type FailureWays, failureQuestion } from '../parts/failure-question.ts';
import { counted } from '../parts/quantity.ts';
import type { Question, QuestionOption } from '../parts/question.ts';
import { GENERATED_KEY_LENGTH } from '../parts/verbs.ts';
import type { RotateKeyContext, RotateKeyEvent } from './context.ts';

type RotateQuestion = Question<RotateKeyEvent>;
type Option = QuestionOption<RotateKeyEvent>;

const stop: Option = {
  event: { type: 'operator.stop' },
  label: 'stop the run',
  hint: 'nothing more is sent; the run is closed as stopped',
};

export function askForOldProof({ facts }: RotateKeyContext): RotateQuestion {
  const id = facts?.newest?.id;
  const noKey = facts?.keysHeld.length === 0 ? 'no key of this instance is held here' : undefined;
  const options: Option[] = [
    {
      event: { type: 'operator.prove' },
      label: `prove backup ${id} under the old key`,
      hint: 'downloads it, opens it with the key held here and reads it to its last byte',
      recommended: noKey === undefined,
      ...(noKey === undefined ? {} : { disabled: noKey }),
    },
    {
      event: { type: 'operator.archive' },
      label: `archive backup ${id} and prove it`,
      hint: 'the same, and the encrypted file stays on this machine',
      ...(noKey === undefined ? {} : { disabled: noKey }),
    },
    ...(noKey === undefined
      ? []
      : [
          {
            event: { type: 'operator.goOn' as const },
            label: 'go on: no key is held that could prove it',
            hint: 'the record says so; to prove it first, stop and add the key with `lifeboat keys add`',
            recommended: true,
          },
        ]),
    {
      event: { type: 'operator.skip', text: '' },
      label: 'go on without',
      hint: 'older backups become unreadable for a download, unproven',
      needs: { what: 'reason', prompt: 'why is the old backup not proven?' },
    },
    stop,
  ];
  return {
    kind: 'choice',
    prompt: `after the rotation ${counted(facts?.backups.downloadable ?? 0, 'backup')} can no longer be downloaded: prove the newest first?`,
    options,
  };
}

export function askForKeyOrigin({ facts }: RotateKeyContext): RotateQuestion {
  return {
    kind: 'choice',
    prompt: 'where does the new key come from?',
    options: [
      {
        event: { type: 'operator.generate' },
        label: 'generate it here',
        hint: `32 random bytes, base64url, ${GENERATED_KEY_LENGTH} characters`,
        recommended: true,
        ...((facts?.ground.minKeyLength ?? 0) > GENERATED_KEY_LENGTH
          ? {
              disabled: `the service asks for ${facts?.ground.minKeyLength} characters, more than a generated key has`,
            }
          : {}),
      },
      {
        event: { type: 'operator.enterKey' },
        label: 'enter one',
        hint: 'typed or pasted twice, never shown',
      },
      stop,
    ],
  };
}

export function askForKey({ facts }: RotateKeyContext): RotateQuestion {
  return {
    kind: 'secret',
    prompt: 'the new key',
    event: 'operator.provideKey',
    twice: true,
    minLength: facts?.ground.minKeyLength ?? 8,
    options: [{ event: { type: 'operator.back' }, label: 'back', hint: 'choose another origin' }],
  };
}

export function askForConfirmation(context: RotateKeyContext): RotateQuestion {
  return {
    kind: 'typed-name',
    prompt:
      context.drift.length === 0
        ? `type the instance's name to set key ${context.key?.fingerprint} on it`
        : `the instance has changed (${context.drift.join('; ')}): type its name to set the key all the same`,
    expected: context.instance,
    event: 'operator.confirm',
    options: [stop],
  };
}

export function askAboutUncertainKey({ key }: RotateKeyContext): RotateQuestion {
  return {
    kind: 'choice',
    prompt: 'KEY UNCERTAIN: the answer to the change was lost; the old and the new key are both kept',
    options: [
      {
        event: { type: 'operator.goOn' },
        label: 'let a new backup judge',
        hint: `a backup is made now; whichever key opens it is in force`,
        recommended: true,
      },
      {
        event: { type: 'operator.setAgain' },
        label: 'send the same key again',
        hint: `setting key ${key?.fingerprint} twice changes nothing more`,
      },
      stop,
    ],
  };
}

export function askAboutLostBackup({ failure }: RotateKeyContext): RotateQuestion {
  return {
    kind: 'choice',
    prompt: failure?.shortMessage ?? 'the answer to the backup request was lost',
    options: [
      ...adoptions<RotateKeyEvent>(failure, 'backup'),
      lookAgain('its list of backups'),
      sendAgain('creates one more backup; harmless, but it counts against retention'),
      stop,
    ],
  };
}

/** Only a backup of which it is not known whether it was made after the change leaves anything to another one. */
const anotherBackup = {
  event: { type: 'operator.retry' },
  label: 'let another backup judge',
  hint: 'asks for one more backup: only one that was made after the change tells whether it took',
} as const;

export function askAboutKeyNotInForce(context: RotateKeyContext): RotateQuestion {
  const { id, adopted } = context.backup ?? {};
  const finding = `backup ${id} opens with key ${context.verification?.opens}, not with the new one`;
  return {
    kind: 'choice',
    prompt: adopted
      ? `${finding}; it was found in the list after a lost answer, and may be from before the change`
      : `${finding}: the change did not take`,
    options: [
      ...(adopted === true ? [anotherBackup] : []),
      {
        event: { type: 'operator.setAgain' },
        label: 'set the new key again',
        hint: 'asks for the typed name once more',
      },
      stop,
    ],
  };
}

/** The ways out of each failure state. Keys are state names. */
export const FAILURE_WAYS = {
  checkFailed: {
    retry: 'asks the service again; nothing has been changed',
    skip: { disabled: 'without these facts there is nothing to confirm' },
    markDone: { disabled: 'only the service can give these facts' },
  },
  blocked: {
    retry: 'asks the service again; nothing has been changed',
    skip: 'the rotation goes on although this was found',
    markDone: 'how was it settled?',
  },
  oldProofFailed: {
    retry: 'downloads and reads the old backup again',
    skip: 'the old backup stays unproven',
    markDone: 'where and how was the old backup proven?',
  },
  storeFailed: {
    retry: 'stores the key again; nothing has been sent to the service',
    skip: { disabled: 'a key that is not stored is never sent' },
    markDone: { disabled: 'the key must be readable from here' },
  },
  setFailed: {
    retry: 'checks the instance and sends the same key again',
    skip: 'no key is set by this run; the next backup shows which key is in force',
    markDone: 'how was the new key set, and when?',
  },
  backupFailed: {
    retry: 'asks for another backup',
    skip: { disabled: 'without a backup under the new key nothing is proven; stop instead' },
    markDone: { disabled: 'create it with the service and choose "try again": the newest is then found' },
  },
  waitFailed: {
    retry: 'looks at the same backup again; no other one is asked for',
    skip: { disabled: 'without a backup under the new key nothing is proven; stop instead' },
    markDone: { disabled: 'only the service can say that its backup is done' },
  },
  downloadFailed: {
    retry: 'downloads it again',
    skip: 'the new key stays unproven',
    markDone: 'path of the file that you downloaded',
  },
  verifyFailed: {
    retry: 'downloads the backup again and reads it to its end',
    skip: 'the new key stays unproven',
    markDone: 'how was it verified, with which result?',
  },
  negativeFailed: {
    retry: 'tries the old keys on the backup again',
    skip: 'it stays open whether the old key still works',
    markDone: 'how was it tested that the old key fails?',
  },
  recordFailed: {
    retry: 'writes the record again',
    skip: { disabled: 'a rotation without a record proves nothing' },
    markDone: { disabled: 'the record is written here or nowhere' },
  },
} as const satisfies Record<string, FailureWays>;

/** The question of a failure state, by its name. */
export function askAboutFailure(state: keyof typeof FAILURE_WAYS) {
  return ({ failure }: RotateKeyContext): RotateQuestion =>
    failureQuestion(failure, FAILURE_WAYS[state]) as RotateQuestion;
}
