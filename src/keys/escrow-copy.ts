import { createHash, randomBytes } from 'node:crypto';
import canonicalize from 'canonicalize';
import * as z from 'zod';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { Fingerprint } from '../store/projections/key-epochs.ts';
import { fingerprintUnder } from './keyring.ts';
import { WORK_FACTOR } from './vault-format.ts';

export interface EscrowedKey {
  readonly instance: string;
  readonly fingerprint: string;
  /** The number of the key in the ledger of its instance, from 1. */
  readonly epoch: number;
  readonly key: Secret;
  /** Gives the key its fingerprint. Missing if the fingerprint came from another, unknown key store. */
  readonly fingerprintSecret?: Secret | undefined;
}

/** A copy's clear text and its sealed text. */
export interface EscrowCopy {
  readonly instance: string;
  readonly fingerprint: string;
  readonly epoch: number;
  /** RFC 3339. */
  readonly sealedAt: string;
  /** The age recipients that it was sealed to. */
  readonly recipients: readonly string[];
  readonly sealed: string;
}

/** Bytes: a hybrid recipient takes 2.2 KB, and a team has some dozens. */
export const MAX_COPY_BYTES = 256 * 1024;

const FORMAT = 'lifeboat.escrow/1';
const FIRST_LINE = 'Lifeboat escrow copy, version 1';
const HOW = "open: sed -n '/^-----BEGIN/,$p' FILE | age --decrypt --identity IDENTITY";
/** The first line of an armoured age file. */
export const ARMOUR = '-----BEGIN AGE ENCRYPTED FILE-----';

const Contents = z.object({
  format: z.literal(FORMAT),
  instance: z.string().min(1),
  fingerprint: Fingerprint,
  epoch: z.int().positive(),
  key: z.string().min(1),
  fingerprintSecret: z.string().min(1).optional(),
});

/**
 * Seals a key to age recipients (age-encryption.org/v1). The sealed canonical JSON has instance, fingerprint
 * and epoch, so that opening reveals a copy under another name. Rejects with `escrow.bad-recipient`.
 */
export async function sealCopy(
  { instance, fingerprint, epoch, key, fingerprintSecret }: EscrowedKey,
  recipients: readonly string[],
  sealedAt: string,
): Promise<EscrowCopy> {
  const text = canonicalize({
    ...{ format: FORMAT, instance, fingerprint, epoch, key: key.reveal() },
    ...(fingerprintSecret === undefined ? {} : { fingerprintSecret: fingerprintSecret.reveal() }),
  });
  if (text === undefined) throw new TypeError('a copy is always an object');
  return { instance, fingerprint, epoch, sealedAt, recipients, sealed: await sealText(text, recipients) };
}

/** Seals to recipients or to a passphrase; armoured. Rejects with `escrow.bad-recipient`. */
export async function sealText(text: string, to: readonly string[] | Secret): Promise<string> {
  const { Encrypter, armor } = await import('age-encryption');
  const encrypter = new Encrypter();
  if (to instanceof Secret) {
    const { passphraseRecipient } = await import('./passphrase.ts');
    encrypter.addRecipient(passphraseRecipient(to, WORK_FACTOR));
  }
  for (const recipient of to instanceof Secret ? [] : to) {
    try {
      encrypter.addRecipient(recipient);
    } catch (cause) {
      throw badRecipient(recipient, cause);
    }
  }
  return armor.encode(await encrypter.encrypt(text));
}

/** Throws `escrow.bad-recipient` for a text that age cannot seal to. */
export async function assertRecipient(recipient: string): Promise<void> {
  await sealText('', [recipient]);
}

function badRecipient(recipient: string, cause: unknown): LifeboatError {
  return new LifeboatError('escrow.bad-recipient', `${show(recipient, 80)} is not an age recipient`, {
    hints: [
      'a recipient begins with age1: `lifeboat keys identity` prints the one of this person',
      'nothing was sealed',
    ],
    exitCode: EXIT.usage,
    cause,
  });
}

/** The file of a copy. Its head can be compared line by line and holds no secret. */
export function copyText({ instance, fingerprint, epoch, sealedAt, recipients, sealed }: EscrowCopy): string {
  const head = [
    FIRST_LINE,
    `instance: ${instance}`,
    `fingerprint: ${fingerprint}`,
    `epoch: ${epoch}`,
    `sealed: ${sealedAt}`,
    ...recipients.map((recipient) => `recipient: ${recipient}`),
    HOW,
  ];
  return `${head.join('\n')}\n\n${sealed.trimEnd()}\n`;
}

/** `wrong`: why the text is not a copy. Opens nothing. */
export function readCopy(text: string): EscrowCopy | { readonly wrong: string } {
  const at = text.indexOf(`\n${ARMOUR}`);
  const [first, ...lines] = text.slice(0, Math.max(at, 0)).split('\n');
  if (first !== FIRST_LINE || at === -1)
    return { wrong: 'it does not begin like an escrow copy of version 1' };
  const values = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
  const read = Head.safeParse({
    instance: values('instance')[0],
    fingerprint: values('fingerprint')[0],
    epoch: Number(values('epoch')[0]),
    sealedAt: values('sealed')[0],
    recipients: values('recipient'),
  });
  if (!read.success) return { wrong: `its head has no ${String(read.error.issues[0]?.path[0] ?? 'end')}` };
  return { ...read.data, sealed: text.slice(at + 1) };
}

const Head = z.object({
  instance: z.string().min(1).max(100),
  fingerprint: Fingerprint,
  epoch: z.int().positive(),
  sealedAt: z.string().min(1).max(40),
  recipients: z.array(z.string().regex(/^age1[0-9a-z]{1,4000}$/u)).min(1),
});

/**
 * The key of a copy. `escrow.not-for-you`: none of the identities is among its recipients. `escrow.damaged`:
 * it is cut or changed, or holds another key than its head says.
 */
export async function openCopy(copy: EscrowCopy, identities: readonly Secret[]): Promise<EscrowedKey> {
  const named = `the escrow copy of key ${copy.fingerprint} of ${show(copy.instance, 80)}`;
  const read = Contents.safeParse(parsed(await openText(copy.sealed, identities, named)));
  if (!read.success) throw damaged(named, 'it opens, but holds no key');
  const { key, fingerprintSecret, instance, fingerprint, epoch } = read.data;
  const opened = {
    ...{ instance, fingerprint, epoch, key: new Secret(key) },
    fingerprintSecret: fingerprintSecret === undefined ? undefined : new Secret(fingerprintSecret),
  };
  if (instance !== copy.instance || fingerprint !== copy.fingerprint || epoch !== copy.epoch)
    throw damaged(named, 'it holds another key than its head says');
  const { fingerprintSecret: secret } = opened;
  if (secret !== undefined && fingerprintUnder(secret, opened.key) !== fingerprint)
    throw damaged(named, 'its key does not have its fingerprint');
  return opened;
}

/** Opens an armoured age file. Rejects with `escrow.not-for-you` or `escrow.damaged`. */
export async function openText(
  sealed: string,
  by: readonly Secret[] | Secret,
  named: string,
): Promise<string> {
  const { Decrypter, armor } = await import('age-encryption');
  const decrypter = new Decrypter();
  if (by instanceof Secret) {
    const { passphraseIdentity } = await import('./passphrase.ts');
    decrypter.addIdentity(passphraseIdentity(by));
  }
  for (const identity of by instanceof Secret ? [] : by) {
    try {
      decrypter.addIdentity(identity.reveal());
    } catch {
      // The cause would quote the identity, which is secret.
      throw new LifeboatError('escrow.bad-identity', 'this is not an age identity', {
        hints: ['an identity begins with AGE-SECRET-KEY-; `age-keygen` makes one'],
        exitCode: EXIT.usage,
      });
    }
  }
  try {
    return await decrypter.decrypt(armor.decode(sealed.trim()), 'text');
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : '';
    if (!/no identity matched/u.test(message))
      throw damaged(named, show(message, 80) || 'it is cut or changed');
    if (by instanceof Secret)
      throw new LifeboatError('escrow.wrong-passphrase', `the passphrase does not open ${named}`, {
        hints: ['nothing was changed', 'give the passphrase again'],
      });
    throw new LifeboatError('escrow.not-for-you', `no identity at hand opens ${named}`, {
      hints: [
        'only the people it was sealed to can open it: its head lists their recipients',
        'nothing was changed',
      ],
    });
  }
}

function damaged(named: string, why: string): LifeboatError {
  return new LifeboatError('escrow.damaged', `${named} cannot be used: ${why}`, {
    hints: [
      'nothing was changed: other copies of the same key may be whole',
      'whoever holds the key renews it: `lifeboat keys escrow update`',
    ],
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface NewChallenge {
  readonly id: string;
  readonly recipient: string;
  readonly sealed: string;
  /** The text inside is secret until the holder gives it. */
  readonly answerSha256: string;
}

/** A random text sealed to a recipient. */
export async function makeChallenge(recipient: string): Promise<NewChallenge> {
  const id = randomBytes(4).toString('hex');
  const answer = `${id}-${randomBytes(16).toString('hex')}`;
  const sealed = await sealText(answer, [recipient]);
  return { id, recipient, sealed, answerSha256: createHash('sha256').update(answer).digest('hex') };
}

/** Rejects with `escrow.not-for-you` or `escrow.damaged`. */
export async function answerTo(sealed: string, identities: readonly Secret[]): Promise<string> {
  return await openText(sealed, identities, 'the challenge');
}
