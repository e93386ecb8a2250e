import { hash } from 'node:crypto';
import { proofText } from '../../../src/audit/bundle/shown-log.ts';
import {
  consistencyProof,
  inclusionProof,
  type NodeOf,
  rootOf,
  treeProof,
} from '../../../src/store/log/merkle.ts';
import type { Signer } from '../../../src/store/log/signer.ts';
import { storedTree } from '../../store/log/naive.ts';
import { RUN } from './scene.ts';

export type Files = Map<string, Buffer>;

/** The forger's tools: everything, and in some attacks even the signing key. */
export interface Tools {
  readonly forger: Signer;
  /** The installation's own key, stolen or used by an insider. */
  readonly insider: Signer;
  /** The files of another run's bundle of the same home. */
  readonly other: ReadonlyMap<string, Buffer>;
  /** The tree of the real log, and how many leaves it has. */
  readonly node: NodeOf;
  readonly size: number;
}

export interface Attack {
  readonly title: string;
  /** What exposes it: the bundle itself, a given public key, or a given anchor. */
  readonly foundBy: readonly ('itself' | 'key' | 'anchor')[];
  readonly bundle: (files: Files, tools: Tools) => void | Promise<void>;
}

/** Changes one character of a file, such as a digit; of a checkpoint one of its root. */
export function editFile(files: Files, name: string): void {
  const bytes = Buffer.from(files.get(name) ?? '');
  const place = Math.floor(bytes.length * (name.startsWith('checkpoint') ? 0.2 : 0.5));
  bytes[place] = bytes[place] === 0x31 ? 0x32 : 0x31;
  files.set(name, bytes);
}

export function textOf(files: ReadonlyMap<string, Buffer>, name: string): string {
  return String(files.get(name) ?? '');
}

export function linesIn(files: ReadonlyMap<string, Buffer>, name: string): string[] {
  return textOf(files, name).split('\n').slice(0, -1);
}

/** Rebuilds the list of files; only the note over it cannot be made without a key. */
export function listAnew(files: Files, signer?: Signer): void {
  const names = [...files.keys()].filter((name) => !/^(?:SHA256SUMS|manifest\.note)$/u.test(name)).sort();
  const sha256 = (data: string | Buffer) => hash('sha256', data, 'hex');
  const sums = names.map((name) => `${sha256(files.get(name) ?? '')}  ${name}\n`).join('');
  files.set('SHA256SUMS', Buffer.from(sums));
  const lines = textOf(files, 'manifest.note').split('\n').slice(0, 3);
  const text = `${[...lines, `SHA256SUMS ${sha256(sums)}`].join('\n')}\n`;
  if (signer !== undefined)
    files.set('manifest.note', Buffer.from(signer.note(text, `lifeboat-bundle/${RUN}`)));
}

interface Proof {
  leaves: Record<string, number[]>;
  sizes: number[];
  nodes: string[];
}

/** Changes the proof. */
export function editProof(files: Files, change: (proof: Proof) => void): void {
  const proof = JSON.parse(textOf(files, 'proof.json')) as Proof;
  change(proof);
  files.set('proof.json', Buffer.from(proofText(proof)));
}

/** Changes which leaves are shown, with a correct proof, as anyone with the log can. */
export async function proveAnew(
  files: Files,
  { node, size }: Pick<Tools, 'node' | 'size'>,
  change: (leaves: Record<string, number[]>) => void = () => undefined,
): Promise<void> {
  const proof = JSON.parse(textOf(files, 'proof.json')) as Proof;
  change(proof.leaves);
  const hex = (hashes: readonly Buffer[]) => hashes.map((one) => one.toString('hex'));
  const log = {
    rootAt: async (at: number) => rootOf(at, node).toString('hex'),
    inclusion: async (index: number) => hex(inclusionProof(index, size, node)),
    consistency: async (from: number) => hex(consistencyProof(from, size, node)),
  };
  const leaves = Object.values(proof.leaves).flat();
  proof.nodes = [...(await treeProof(log, { size, leaves, sizes: proof.sizes }))];
  files.set('proof.json', Buffer.from(proofText(proof)));
}

/** A whole new log with the contents of the bundle, as long as the real one, recomputed and signed. */
export async function makeAnew(files: Files, signer: Signer, size: number): Promise<void> {
  const [first = '', ...rest] = linesIn(files, 'log.jsonl');
  const begun = first.replace(/-----BEGIN.*-----\\n(?=")/u, JSON.stringify(signer.publicKey).slice(1, -1));
  files.set('log.jsonl', Buffer.from(`${[begun, ...rest].join('\n')}\n`));
  const names = ['log.jsonl', 'journal.jsonl', 'ledger/orders.jsonl'].filter((name) => files.has(name));
  const leaves: Record<string, number[]> = {};
  const data: Buffer[] = [];
  for (const name of names)
    leaves[name] = linesIn(files, name).map((line) => data.push(Buffer.from(line)) - 1);
  while (data.length < size) data.push(Buffer.from(`another entry ${data.length}`));
  const node = storedTree(data);
  const root = rootOf(data.length, node).toString('hex');
  const origin = textOf(files, 'checkpoint.note').split('\n')[0] ?? '';
  for (const name of files.keys()) if (name.startsWith('checkpoints/')) files.delete(name);
  files.set('checkpoint.note', Buffer.from(signer.sign({ origin, size: data.length, root, armed: [] })));
  const { sizes } = JSON.parse(textOf(files, 'proof.json')) as Proof;
  files.set('proof.json', Buffer.from(proofText({ leaves, sizes, nodes: [] })));
  await proveAnew(files, { node, size: data.length });
  files.set('lifeboat.pub', Buffer.from(signer.publicKey));
  listAnew(files, signer);
}
