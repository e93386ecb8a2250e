import { mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isoOf } from '../../base/date.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { askHidden } from '../../cli/hidden-prompt.ts';
import { wholeNumber } from '../../cli/numbers.ts';
import { printResult } from '../../cli/print-result.ts';
import { readGivenFile } from '../../cli/read-given-file.ts';
import { writeNewFile } from '../../cli/write-new-file.ts';
import { openKeys } from '../../compose/workspace.ts';
import { newIdentity, recipientOf } from '../../keys/identity.ts';
import { type KeyFile, MAX_KEY_FILE_BYTES, openKeyFile, sealKeyFile } from '../../keys/key-file.ts';
import type { KeyBundle } from '../../keys/key-store.ts';
import {
  bytesOfLine,
  joinShares,
  LINES,
  MAX_SHARES,
  readShare,
  type Share,
  sharePage,
  shareText,
  splitIdentity,
} from '../../keys/shares.ts';
import { bundleOf, countOf, instancesOf, printStored } from './move-keys.ts';

interface SplitFlags {
  readonly instance?: string;
  readonly shares?: string;
  readonly threshold?: string;
  readonly out?: string;
  readonly paper?: boolean;
}

const SEALED = 'keys.age';
/** Bytes of a share's file that are read at most: a page with its QR code has some 60 KiB. */
const MAX_SHARE_BYTES = 512 * 1024;

/**
 * `lifeboat keys split`: seals the held keys to a wrap key that is made for it, splits the wrap key into
 * shares, and reads everything back: each share opens the file together with others. The wrap key is written
 * nowhere. If the process dies inside, the folder is incomplete, and is to be deleted.
 */
export const keysSplit: Action<SplitFlags> = async (context, _, flags) => {
  const shares = numberOf(flags.shares ?? '5', 'shares');
  const threshold = numberOf(flags.threshold ?? '3', 'threshold');
  if (threshold > shares)
    throw usage(`${threshold} of ${shares} shares can never be together`, '--threshold is at most --shares');
  const folder = flags.out ?? 'key-shares';
  const keyring = await openKeys(context, 'look');
  const bundle = await bundleOf(keyring, flags.instance);
  makeEmpty(folder);
  const wrap = await newIdentity();
  const made = await splitIdentity(wrap, { shares, threshold });
  const sealed = join(folder, SEALED);
  writeNewFile(sealed, await sealKeyFile(bundle, [await recipientOf(wrap)]));
  const about = { file: SEALED, keys: countOf(bundle), madeAt: isoOf(Date.now()) };
  const paths: string[] = [];
  for (const share of made) {
    const path = join(folder, `share-${share.number}.${flags.paper === true ? 'html' : 'txt'}`);
    writeNewFile(path, flags.paper === true ? await sharePage(share, about) : shareText(share, about));
    paths.push(path);
  }
  await readBack(sealed, paths, threshold, bundle);
  const result = {
    file: sealed,
    shares: paths,
    threshold,
    set: made[0]?.set ?? '',
    instances: instancesOf(bundle),
  };
  await printResult(context, 'key-shares', result, () => {
    context.stdout.write(`${[sealed, ...paths].join('\n')}\n`);
    context.stderr.write(
      `${countOf(bundle)} in ${sealed}; any ${threshold} of ${shares} shares open it: read back\n`,
    );
    context.stderr.write(
      'give each share to another person, keep none here, and keep the file where all find it\n',
    );
  });
  return EXIT.closed;
};

/** Every share opens the file together with its neighbours, and the file has every key. */
async function readBack(
  sealed: string,
  paths: readonly string[],
  threshold: number,
  bundle: KeyBundle,
): Promise<void> {
  for (let first = 0; first < paths.length; first += threshold) {
    const some = Array.from({ length: threshold }, (_, at) => paths[(first + at) % paths.length] ?? '');
    const { keys } = await opened(sealed, await Promise.all(some.map(shareAt)));
    const isSame = bundle.keys.every((one, at) => keys[at]?.key.equals(one.key) === true);
    if (!isSame || keys.length !== bundle.keys.length)
      throw new LifeboatError('share.not-kept', `${show(sealed, 300)} does not give back what was sealed`, {
        hints: ['use none of these files: delete the folder, check the disk, and split again'],
      });
  }
}

interface JoinFlags {
  readonly check?: boolean;
}

/**
 * `lifeboat keys join FILE [SHARE...]`: joins shares in memory (typed line by line without files) and stores
 * the keys of the sealed file, all or none. `--check` stores nothing.
 */
export const keysJoin: Action<JoinFlags> = async (context, [file = '', ...paths], { check }) => {
  const keyring = check === true ? undefined : await openKeys(context);
  const shares = paths.length > 0 ? await Promise.all(paths.map(shareAt)) : await typedShares(context);
  const found = await opened(file, shares);
  if (keyring !== undefined) {
    const { added } = await keyring.takeBundle(found);
    await printStored(context, keyring, found, added);
    return EXIT.closed;
  }
  const result = { keys: found.keys.length, added: 0, instances: instancesOf(found), keptIn: '' };
  await printResult(context, 'keys-stored', result, () => {
    context.stdout.write(`the shares open ${show(file, 300)}: ${countOf(found)}; nothing was stored\n`);
  });
  return EXIT.closed;
};

async function shareAt(path: string): Promise<Share> {
  return readShare(
    (await readGivenFile(path, MAX_SHARE_BYTES, 'nothing was stored')).toString(),
    show(path, 200),
  );
}

async function opened(file: string, shares: readonly Share[]): Promise<KeyFile> {
  const identity: Secret = await joinShares(shares);
  const sealed = (await readGivenFile(file, MAX_KEY_FILE_BYTES, 'nothing was stored')).toString();
  try {
    return await openKeyFile(sealed, [identity], show(file, 300));
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || thrown.code !== 'escrow.not-for-you') throw thrown;
    const set = shares[0]?.set ?? '';
    throw new LifeboatError(
      'share.other-file',
      `${show(file, 300)} was not sealed for the shares of set ${set}`,
      {
        hints: ['nothing was stored', `the shares are right: look for the ${SEALED} that was made with them`],
        exitCode: EXIT.usage,
      },
    );
  }
}

/** Asks for shares line by line, each line until it is right, until there are enough. */
async function typedShares(context: CommandContext): Promise<readonly Share[]> {
  const shares: Share[] = [];
  for (;;) {
    const at = shares.length + 1;
    const of = shares[0] === undefined ? '' : ` of the ${shares[0].threshold} that are needed`;
    const lines: string[] = [];
    for (let number = 1; number <= LINES; number += 1)
      lines.push(`${number} ${await typedLine(context, `share ${at}${of}, line ${number}`, number)}`);
    const share = readShare(lines.join('\n'), 'what was typed');
    const known = shares.find((one) => one.number === share.number && one.set === share.set);
    if (known === undefined) shares.push(share);
    else context.stderr.write(`share ${share.number} was typed already\n`);
    if (shares.length >= (shares[0]?.threshold ?? 0)) return shares;
  }
}

async function typedLine(context: CommandContext, prompt: string, number: number): Promise<string> {
  for (;;) {
    const typed = (await askHidden(prompt, context, { least: 1 })).reveal().replace(/^\s*[1-9]\s\s*/u, '');
    try {
      bytesOfLine(number, typed, 'what was typed');
      return typed;
    } catch (thrown) {
      if (!(thrown instanceof LifeboatError) || thrown.code !== 'share.mistyped') throw thrown;
      context.stderr.write('this line has a mistake: type it again, or leave with Escape\n');
    }
  }
}

/** Makes the folder, or takes one that is empty. */
function makeEmpty(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [first] = readdirSync(folder);
  if (first === undefined) return;
  throw usage(
    `there is something in ${show(folder, 300)} already: ${show(basename(first), 100)}`,
    'name another folder with --out FOLDER',
  );
}

function numberOf(text: string, flag: string): number {
  const number = wholeNumber(text, flag, 2);
  if (number <= MAX_SHARES) return number;
  throw usage(`--${flag} is at most ${MAX_SHARES}`, 'more shares are no safer: they are more to lose');
}

function usage(what: string, hint: string): LifeboatError {
  return new LifeboatError('usage.option', what, {
    hints: ['nothing was written', hint],
    exitCode: EXIT.usage,
  });
}
