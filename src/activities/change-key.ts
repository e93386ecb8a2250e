import type { KeySetting, RecoveryPreparation } from '../../machines/parts/task-data.ts';
import { isoOf } from '../base/date.ts';
import { failureOf, LifeboatError } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import { formatTime } from '../base/format.ts';
import type { Secret } from '../base/secret.ts';
import type { Untrusted } from '../base/text.ts';
import { checkOfGenerated, generateKey, lateKeyUntil } from '../keys/keyring.ts';
import type { SendOutcome } from '../service/client.ts';
import {
  type ActivityOf,
  type ActivityResult,
  because,
  type ChangeContext,
  harmless,
  type LedgerFact,
  no,
  ok,
  readVerb,
  repeatableVerb,
} from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { type Accepted, retryThrottled, sentAgain } from './once-task.ts';

/**
 * Overwrites nothing. If the process dies inside, a generated key may stay unused, and another one is
 * generated; an entered key must be entered again.
 */
export function storeKey(deps: ActivityDeps): ActivityOf<'storeKey'> {
  return repeatableVerb(async ({ origin, given, minLength }, { instance }) => {
    const key = origin === 'generated' ? generateKey() : await entered(deps, instance, given?.fingerprint);
    if (key === undefined) {
      return no('key.not-in-hand', 'the key that was entered is no longer in memory and was not stored', {
        hints: ['try again and enter it once more; nothing was sent to the service'],
      });
    }
    if (key.length < minLength)
      return no(
        'key.too-short',
        `the key has ${key.length} characters, the service requires at least ${minLength}`,
      );
    const fingerprint = await deps.keyring.add(instance, key);
    return ok({ fingerprint, length: key.length, origin, store: deps.keyring.store.description });
  });
}

async function entered(deps: ActivityDeps, instance: string, fingerprint: string | undefined) {
  if (fingerprint === undefined) return undefined;
  return deps.inHand(fingerprint) ?? (await deps.keyring.load(instance, fingerprint));
}

/**
 * Compares the fingerprint. Only then the ledger gets `key.pending`, in the same transaction, before any byte
 * of the key is sent.
 */
export function readBackKey(deps: ActivityDeps): ActivityOf<'readBackKey'> {
  return readVerb(async ({ key }, { instance, runId }) => {
    const found = await deps.keyring.load(instance, key.fingerprint);
    if (found === undefined) {
      return no('key.not-stored', `key ${key.fingerprint} is not in ${deps.keyring.store.description}`, {
        hints: ['nothing was sent to the service; try again'],
      });
    }
    if (found.length !== key.length || (await deps.keyring.fingerprint(found)) !== key.fingerprint) {
      return no(
        'key.damaged',
        `key ${key.fingerprint} comes back changed from ${deps.keyring.store.description}`,
        {
          hints: [
            'nothing was sent to the service; do not trust the key store any more: run `lifeboat doctor`',
          ],
        },
      );
    }
    const { fingerprint, length, origin, store } = key;
    const check = origin === 'generated' ? { check: checkOfGenerated(found) } : {};
    const body = { fingerprint, run: runId, origin, store, length, ...check };
    return ok(key, [{ type: 'key.pending', body }]);
  });
}

/**
 * Puts sealed copies into every place of the config; the copy in the store is appended with the result.
 * Sealing again replaces the copies. If the process dies inside, some folders have the copy, and it is sealed
 * again.
 */
export function escrowKey(deps: ActivityDeps): ActivityOf<'escrowKey'> {
  return repeatableVerb(async ({ fingerprint }, { instance }) => {
    const { escrow } = deps;
    if (escrow === undefined)
      return no('escrow.not-configured', 'the config does not ask for sealed copies any more', {
        hints: ['nothing was sent to the service', 'put `keys.escrow` back, or stop and begin again'],
      });
    const key = await loaded(deps, instance, fingerprint);
    if ('failure' in key) return because(key.failure);
    const fact = await escrow.seal(fingerprint, key.key);
    const { places, recipients } = escrow;
    return ok({ fingerprint, places: [...places], recipients: [...recipients] }, [fact]);
  });
}

/**
 * Service-api.md endpoint 9. The same key again changes nothing more, so after a crash it is set again;
 * `sendKey` explains how doubt is kept.
 */
export function setKey(deps: ActivityDeps): ActivityOf<'setKey'> {
  return repeatableVerb(async (input, context) => {
    const send = (key: Secret) => deps.service.changeBackupsConfig({ encryption_key: key }, context);
    return (await sendKey(deps, input, context, send)).result;
  });
}

interface KeyToSend {
  readonly fingerprint: string;
  /** Believed to have been in force before. */
  readonly previous?: string | undefined;
}

/** `sent`: the answer, if there was one. */
interface KeySent<T> {
  readonly result: ActivityResult<KeySetting>;
  readonly sent: SendOutcome<T> | undefined;
}

/**
 * `key.sent` is in the ledger before a byte of the key is sent, so if the process dies inside, the key is in
 * doubt and does not look unsent. The outcome is recorded with the result: `key.set`, `key.refused`, or
 * `key.uncertain` for a lost answer, which is no failure: both keys are kept, and the next backup decides. A
 * refusal answers one request only: while an earlier one with the same key has no answer, the result is
 * unknown. Nothing is sent for a key that is not stored, nor while a request with another key may still
 * arrive (`key.may-arrive`).
 */
async function sendKey<T>(
  deps: ActivityDeps,
  { fingerprint, previous }: KeyToSend,
  context: ChangeContext,
  send: (key: Secret) => Promise<SendOutcome<T>>,
): Promise<KeySent<T>> {
  const { instance, runId: run, signal } = context;
  const { epochs, custody } = await deps.ledger();
  const isInDoubt = epochs.some((epoch) => epoch.fingerprint === fingerprint && epoch.unanswered > 0);
  const now = (type: 'key.sent' | 'key.uncertain'): LedgerFact => {
    const body = { fingerprint, run, ...(previous === undefined ? {} : { previous }) };
    return { type, body: { ...body, at: context.now().toISOString() } };
  };
  const failed = (failure: Failure, facts: readonly LedgerFact[]): ActivityResult<KeySetting> => {
    if (!isInDoubt || failure.code.startsWith('credentials.')) return { ...because(failure), ledger: facts };
    const uncertain = facts.length === 0 ? [] : [...facts, now('key.uncertain')];
    return ok({ answer: 'unknown', failure: doubted(failure) }, uncertain);
  };

  const key = await loaded(deps, instance, fingerprint);
  if ('failure' in key) return { result: failed(key.failure, []), sent: undefined };
  const when = { inFlightMs: deps.inFlightMs, nowMs: context.now().getTime() };
  const late = lateKeyUntil(epochs, when, fingerprint);
  if (late !== undefined) return { result: failed(mayArrive(late), []), sent: undefined };

  if (deps.escrow !== undefined && custody?.keys[fingerprint]?.escrowed === undefined)
    return { result: failed(notEscrowed(instance, fingerprint), []), sent: undefined };

  await context.announce([now('key.sent')]);
  const sent = await retryThrottled(() => send(key.key), signal);
  if (sent.outcome === 'accepted') {
    const set = { type: 'key.set', body: { fingerprint, run, answer: 'accepted' } };
    return { result: ok({ answer: 'accepted', status: sent.status }, [set]), sent };
  }
  if (sent.outcome === 'unknown')
    return { result: ok({ answer: 'unknown', failure: sent.failure }, [now('key.uncertain')]), sent };
  return { result: failed(sent.failure, [{ type: 'key.refused', body: { fingerprint, run } }]), sent };
}

function doubted({ shortMessage, ...failure }: Failure): Failure {
  return {
    ...failure,
    code: 'doubt.key',
    shortMessage: `a request with this key has no answer, and this time ${shortMessage}`,
    hints: ['the earlier request may have set the key: a new backup shows which key is in force'],
  };
}

async function loaded(
  { keyring }: ActivityDeps,
  instance: string,
  fingerprint: string,
): Promise<{ readonly key: Secret } | { readonly failure: Failure }> {
  try {
    const key = await keyring.load(instance, fingerprint);
    if (key !== undefined) return { key };
    const hints = ['nothing was sent to the service now'];
    const text = `key ${fingerprint} is not in ${keyring.store.description}`;
    return { failure: new LifeboatError('key.not-stored', text, { hints }).toFailure() };
  } catch (thrown) {
    return { failure: failureOf(thrown) };
  }
}

/** On every path: a key that only one machine has is not sent. */
function notEscrowed(instance: string, fingerprint: string): Failure {
  const text = `key ${fingerprint} has no sealed copy, and the config asks for one before a key is sent`;
  const hints = [
    'nothing was sent to the service',
    `seal it, then try again: lifeboat keys escrow update ${instance}`,
  ];
  return new LifeboatError('key.not-escrowed', text, { hints }).toFailure();
}

function mayArrive(untilMs: number): Failure {
  const text = 'a request with another key was sent, its answer is lost, and it may still arrive';
  const hints = [
    `nothing was sent: try again after ${formatTime(isoOf(untilMs))} UTC`,
    'until then, a new backup shows which key is in force',
  ];
  return new LifeboatError('key.may-arrive', text, { hints }).toFailure();
}

/**
 * Reads the `backup_guid` for recoveries elsewhere (service-api.md endpoint 10). Without a key it changes
 * nothing. With one it changes the key: repeating it changes nothing more, the ledger records it as for
 * `setKey`, and a lost answer is KEY UNCERTAIN.
 */
export function prepareRecovery(deps: ActivityDeps): ActivityOf<'prepareRecovery'> {
  return repeatableVerb(async ({ fingerprint, previous }, context) => {
    const { signal } = context;
    if (fingerprint === undefined) {
      const send = () => deps.service.prepareRecovery({}, context);
      return withoutKey(await sentAgain(send, signal, isLastWord));
    }
    const send = (key: Secret) => deps.service.prepareRecovery({ key }, context);
    const { result, sent } = await sendKey(deps, { fingerprint, previous }, context, send);
    if (!result.ok || sent === undefined) return result;
    return { ...result, output: { ...result.output, ...guidOf(sent) } };
  });
}

interface PreparationAnswer {
  readonly backupGuid: Untrusted | undefined;
}
type Answer = SendOutcome<PreparationAnswer>;

/**
 * Another answer would add nothing. A 202 may omit the guid for now, and a truncated or mistyped answer says
 * nothing; but a readable 200 without the guid is final.
 */
function isLastWord({ value, raw, status }: Accepted<PreparationAnswer>): boolean {
  if (value.backupGuid !== undefined) return true;
  return status === 200 && typeof raw === 'object' && raw !== null && !('backup_guid' in raw);
}

function withoutKey(sent: Answer): ActivityResult<RecoveryPreparation> {
  if (sent.outcome === 'accepted') return ok({ answer: 'accepted', status: sent.status, ...guidOf(sent) });
  return because(sent.outcome === 'unknown' ? harmless(sent.failure) : sent.failure);
}

function guidOf(sent: Answer): { backupGuid?: string } {
  if (sent.outcome !== 'accepted' || sent.value.backupGuid === undefined) return {};
  return { backupGuid: sent.value.backupGuid };
}
