import { UNKNOWN_GUID, UNKNOWN_ID } from '../endpoints.ts';
import { inBody, ok, routeOf, v0Error, v1Error } from './change.ts';
import { type Call, type Mutation, READONLY_TOKEN, TOKEN } from './server.ts';

const UNKNOWN = String(UNKNOWN_ID);
const namesUnknown = ({ path, body }: Call) => path.includes(UNKNOWN) || body['backup_id'] === UNKNOWN_ID;

/** Wrong about who may ask, what there is, and how it is refused. */
export const OF_RIGHTS: readonly Mutation[] = [
  {
    what: 'takes calls without a token',
    before: (call) => ({ ...call, token: call.token ?? TOKEN }),
    caughtBy: ['credentials.missing.*'],
  },
  {
    what: 'takes any token',
    before: (call) => ({ ...call, token: call.token === undefined ? undefined : TOKEN }),
    caughtBy: ['credentials.wrong.*'],
  },
  {
    what: 'says 403 to a wrong token',
    after: (answer, call) =>
      answer.status === 401 && call.token !== undefined ? { ...answer, status: 403 } : answer,
    caughtBy: ['credentials.wrong.*'],
  },
  {
    what: 'lets the read-only token change things',
    before: (call) => ({ ...call, token: call.token === READONLY_TOKEN ? TOKEN : call.token }),
    caughtBy: ['rights.*'],
  },
  {
    what: 'says 401 to the read-only token',
    after: (answer) => (answer.status === 403 ? { ...answer, status: 401 } : answer),
    caughtBy: ['rights.*'],
  },
  {
    what: 'breaks over a bare token',
    after: (answer, call) => (call.authorization === TOKEN ? v1Error(500, 'unexpected') : answer),
    caughtBy: ['credentials.scheme'],
  },
  {
    what: 'refuses without a body',
    after: (answer) => (answer.status === 401 ? { ...answer, body: '' } : answer),
    caughtBy: ['credentials.missing.*', 'credentials.wrong.*'],
  },
  {
    what: 'refuses with a page',
    after: (answer) =>
      answer.status === 401
        ? { status: 401, body: '<h1>401</h1>', headers: { 'content-type': 'text/html' } }
        : answer,
    caughtBy: ['credentials.missing.*', 'credentials.wrong.*'],
  },
  {
    what: 'says that JSON is text',
    after: (answer) => ({ ...answer, headers: { 'content-type': 'text/plain', ...answer.headers } }),
    caughtBy: ['overview.read', 'config.read', 'backups.list', 'v0.listing', 'unknown.backup.get-backup'],
  },
  {
    what: 'knows instances that there are not',
    after: (answer, call) => (call.path.includes(UNKNOWN_GUID) && answer.status >= 400 ? ok({}) : answer),
    caughtBy: ['unknown.instance.*'],
  },
  {
    what: 'answers 400 where nothing is found',
    after: (answer) => ([404, 412].includes(answer.status) ? { ...answer, status: 400 } : answer),
    caughtBy: ['unknown.instance.*', 'unknown.backup.*', 'unknown.restore.*'],
  },
  {
    what: 'knows backups and restores that there are not',
    after: (answer, call) => (namesUnknown(call) && answer.status >= 400 ? ok({}) : answer),
    caughtBy: ['unknown.backup.*', 'unknown.restore.*'],
  },
  {
    what: 'breaks over an id that is no number',
    after: (answer, call) => (/\/(first|1\.5)$/.test(call.path) ? v1Error(500, 'unexpected') : answer),
    caughtBy: ['unknown.no-number'],
  },
  {
    what: 'has a sentence as the word of an error',
    after: (answer, call) =>
      answer.status === 404 && call.path.startsWith('/v1/') ? v1Error(404, 'not found') : answer,
    caughtBy: ['unknown.backup.get-backup', 'unknown.restore.get-restore', 'unknown.backup.restore'],
  },
  {
    what: 'has errors of V0 in V1',
    after: (answer, call) =>
      answer.status >= 400 && call.path.startsWith('/v1/') ? v0Error(answer.status) : answer,
    caughtBy: ['unknown.backup.get-backup', 'unknown.restore.get-restore', 'credentials.missing.overview'],
  },
  {
    what: 'has errors of V1 in V0',
    after: (answer, call) =>
      answer.status >= 400 && !call.path.startsWith('/v1/') ? v1Error(answer.status, 'wrong') : answer,
    caughtBy: [
      'unknown.backup.v0-restore',
      'unknown.backup.v0-download',
      'unknown.backup.download-v0',
      'credentials.missing.v0-list',
    ],
  },
  {
    what: 'has errors of other calls at V1 downloads',
    revision: 61,
    after: (answer, call) =>
      answer.status >= 400 && routeOf(call) === 'GET /backups/:id/download'
        ? v1Error(answer.status, 'wrong')
        : answer,
    caughtBy: ['credentials.missing.download', 'credentials.wrong.download', 'unknown.backup.download'],
  },
  {
    what: 'has another status in the body of a download error',
    revision: 61,
    after: (answer) =>
      answer.status === 412 ? { status: 412, body: { message: 'No.', status: 404 } } : answer,
    caughtBy: ['unknown.backup.download'],
  },
  {
    what: 'carries the token in an answer',
    after: inBody('GET /', (body) => ({ ...body, name: `asked by ${TOKEN}` })),
    caughtBy: ['secrets.silence'],
  },
  {
    what: 'carries the token in a header',
    after: (answer, call) =>
      routeOf(call) === 'GET /' ? { ...answer, headers: { 'x-asked-by': TOKEN } } : answer,
    caughtBy: ['secrets.silence'],
  },
];
