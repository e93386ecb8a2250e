import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { openApi } from '../../src/platform/api/connection.ts';
import { Organization } from '../../src/platform/capi/schemas.ts';
import { startFaultServer } from './fault-server.ts';
import { clientAt, rejection, TOKEN_WORD } from './serve.ts';

const ZIPPED = gzipSync('[]');
const GZIP = 'the answer is compressed with gzip, which was not asked for';
const TWICE =
  'the answer says its length twice, as a proxy does that adds a Content-Length of its own' +
  ' (HPE_UNEXPECTED_CONTENT_LENGTH)';

test.each([
  ['gzip with its label', ['content-encoding: gzip', `content-length: ${ZIPPED.length}`], ZIPPED, GZIP],
  ['gzip without a label', [`content-length: ${ZIPPED.length}`], ZIPPED, GZIP],
  ['two equal lengths', ['content-length: 2', 'content-length: 2'], '[]', TWICE],
  ['two lengths', ['content-length: 2', 'Content-Length: 3'], '[]', TWICE],
  ['a length and chunks', ['content-length: 2', 'transfer-encoding: chunked'], '2\r\n[]\r\n', TWICE],
])('%s: reads, changes and the platform name the cause', async (_, fields, body, shortMessage) => {
  const server = await startFaultServer(({ method }, socket) => {
    const status = method === 'POST' ? 201 : 200;
    socket.write(`HTTP/1.1 ${status} Status\r\n${fields.join('\r\n')}\r\n\r\n`);
    socket.write(body);
  });
  onTestFinished(server.close);
  const client = clientAt(server.origin);
  expect(await rejection(client.backups())).toMatchObject({ code: 'service.bad-answer', shortMessage });
  expect(await client.createBackup()).toMatchObject({
    outcome: 'unknown',
    failure: { code: 'service.bad-answer', shortMessage },
  });
  const api = openApi({ api: server.origin, token: async () => new Secret(`bearer ${TOKEN_WORD}`) });
  onTestFinished(api.close);
  const asked = api.get('/v3/x', Organization, AbortSignal.timeout(10_000));
  expect(await rejection(asked)).toMatchObject({ shortMessage: shortMessage.replace('service', 'platform') });
});

test('a body that ends before its length is a broken connection', async () => {
  const server = await startFaultServer((_, socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n[]'),
  );
  onTestFinished(server.close);
  expect(await rejection(clientAt(server.origin, { limits: { attempts: 1 } }).backups())).toMatchObject({
    code: 'service.reset',
  });
});
