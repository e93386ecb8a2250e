import * as z from 'zod';
import { LifeboatError } from '../base/errors.ts';
import { type InstanceAddress, urlOf } from './address.ts';
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import { operationsOf } from './operations.ts';
import { readProblem } from './problem.ts';
import { BACKUP_FIELDS, DOWNLOADS, type Revision } from './revisions.ts';
import { Backup } from './schemas.ts';
import { BackupListing } from './v0.ts';

interface Detection {
  readonly revision: Revision;
  /** The evidence, in words. */
  readonly because: string;
  /** `false`: nothing was decisive, or two signs disagree. */
  readonly certain: boolean;
}

interface DetectOptions extends ConnectionOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends only GETs. Without decisive evidence it assumes revision 62, marked as uncertain. Rejects if the
 * backups may not be listed (`credentials.*`, `service.forbidden`) and if there is no answer at all.
 *
 * `started_at` is no evidence, since services later than revision 62 return it again. The evidence is a
 * single backup that has its `backup_id` (service-api.md sections 2.1 and 4.2), and whether there is a V1
 * download (section 4.3).
 */
export async function detectRevision(address: InstanceAddress, options: DetectOptions): Promise<Detection> {
  const connection = openConnection(address, options);
  const { signal } = options;
  const v1 = operationsOf(connection, address, 62);
  const v0 = operationsOf(connection, address, 'v0');
  try {
    const list = await look(v1.read('backups', z.array(Backup), { signal }));
    if (list.seen === 'nothing') {
      const listing = await look(v0.read('backups', BackupListing(), { signal }));
      if (listing.seen === 'it') return sure('v0', 'V1 does not list the backups, and V0 does');
      return unsure(62, 'neither V1 nor V0 lists the backups');
    }
    if (list.seen === 'trouble') return unsure(62, `V1 does not list the backups now: ${list.words}`);
    const newest = list.value.reduce((most, { id }) => Math.max(most, id), -1);
    const single = newest < 0 ? undefined : await look(v1.read('backup', Backup, { id: newest, signal }));
    const named = single?.seen === 'it' && single.value.backup_id !== undefined;
    return evaluate(named, await lookForDownload(connection, address, signal));
  } finally {
    await connection.close();
  }
}

function evaluate(named: boolean, download: 'there' | 'not there' | 'unclear'): Detection {
  if (download === 'there') return sure(61, 'there is a V1 download');
  const [naming] = BACKUP_FIELDS.backup_id.one;
  if (named && download === 'not there')
    return unsure(naming, 'a single backup comes with its backup_id, but there is no V1 download');
  if (named) return sure(naming, 'a single backup comes with its backup_id');
  if (download === 'not there') return sure(62, 'V1 answers and has no download');
  return unsure(62, 'V1 answers and does not show whether it has a download');
}

function sure(revision: Revision, because: string): Detection {
  return { revision, because, certain: true };
}

function unsure(revision: Revision, because: string): Detection {
  return { revision, because, certain: false };
}

type Sight<T> =
  | { readonly seen: 'it'; readonly value: T }
  | { readonly seen: 'nothing' }
  | { readonly seen: 'trouble'; readonly words: string };

const ABSENT: readonly string[] = ['service.not-found', 'service.redirect', 'service.bad-answer'];
const TROUBLE: readonly string[] = [
  'service.error',
  'service.conflict',
  'service.invalid',
  'service.precondition',
  'service.too-large',
];

/** JSON of another shape shows that the read exists, a web page does not. */
async function look<T>(reading: Promise<{ readonly value: T }>): Promise<Sight<T>> {
  try {
    return { seen: 'it', value: (await reading).value };
  } catch (error) {
    if (!(error instanceof LifeboatError)) throw error;
    const misshapen = error.evidence['at'] !== undefined;
    if (ABSENT.includes(error.code) && !misshapen) return { seen: 'nothing' };
    if (misshapen || TROUBLE.includes(error.code)) return { seen: 'trouble', words: error.shortMessage };
    throw error;
  }
}

/** No backup has the id 0: a V1 download answers it with 412 in its own words (section 4.3). */
async function lookForDownload(
  { reader }: Connection,
  address: InstanceAddress,
  signal: AbortSignal | undefined,
): Promise<'there' | 'not there' | 'unclear'> {
  try {
    const url = urlOf(address, DOWNLOADS.v1, 0);
    const { status, body } = await reader.fetch({ method: 'GET', url, answer: 'whole', signal });
    const problem = readProblem(status, Buffer.from(await body.bytes()), []);
    if (status === 412 && problem.fromService) return 'there';
    return [404, 405, 410, 501].includes(status) ? 'not there' : 'unclear';
  } catch (error) {
    if (error instanceof LifeboatError && ['service.redirect', 'service.too-large'].includes(error.code))
      return 'unclear';
    throw error;
  }
}
