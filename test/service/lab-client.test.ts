import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { askLab, type LabCall, LabOverview, LabTokens } from '../../src/service/lab-client.ts';
import { type Respond, startFaultServer } from './fault-server.ts';
import { rejection, TOKEN_WORD } from './serve.ts';

const LOOK: LabCall = { method: 'GET', path: '/lab' };
const CHANGE: LabCall = { method: 'POST', path: '/lab/tokens', body: { expire: true } };

/** A server that claims to be a lab. */
async function pretending(respond: Respond) {
  const server = await startFaultServer(respond);
  onTestFinished(server.close);
  const lab = { url: server.origin, token: async () => new Secret(TOKEN_WORD) };
  return { server, ask: (call = LOOK, signal?: AbortSignal) => askLab(lab, call, LabOverview, signal) };
}

function answering(status: string, body: string, headers = ''): Respond {
  return (_, socket) =>
    socket.end(
      `HTTP/1.1 ${status}\r\n${headers}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
}

const OVERVIEW = JSON.stringify({ faults: [], instances: [{ name: 'orders', state: 'running' }] });

test('sends the token and nothing else of this machine, and accepts the known parts of the answer', async () => {
  const { server, ask } = await pretending(answering('200 OK', OVERVIEW));
  expect(await ask()).toEqual({ faults: [], instances: [{ name: 'orders', state: 'running' }] });
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/lab', body: '' });
  expect(Object.keys(server.requests[0]?.headers ?? {}).toSorted()).toEqual(
    ['accept', 'accept-encoding', 'authorization', 'connection', 'host', 'user-agent'].toSorted(),
  );
});

test('follows no redirect: the token goes only to the lab', async () => {
  const other = await startFaultServer(answering('200 OK', OVERVIEW));
  onTestFinished(other.close);
  const { ask } = await pretending(answering('302 Found', '', `location: ${other.origin}/lab\r\n`));
  expect(await rejection(ask())).toMatchObject({ code: 'lab.refused' });
  expect(other.connections()).toBe(0);
});

test('a change is sent once, whatever happens to its answer, and the error says what is safe', async () => {
  const { server, ask } = await pretending((_, socket) => socket.destroy());
  expect(await rejection(ask(CHANGE))).toMatchObject({
    code: 'lab.bad-answer',
    shortMessage: expect.stringMatching(/^the answer of the lab at 127\.0\.0\.1:\d+ broke off$/u),
    hints: ['the lab may still have done it: the Lab screen shows what is true now'],
  });
  expect(server.requests).toHaveLength(1);
});

test.each([
  ['a page', '<html>hello</html>'],
  ['nothing', ''],
  ['half of it', OVERVIEW.slice(0, 20)],
  ['a list', '[]'],
  ['another shape', '{"faults":[],"instances":[{"name":5}]}'],
  ['an abyss', '['.repeat(100_000)],
  ['more than any lab has', `{"faults":[],"instances":[],"x":"${'x'.repeat(5 * 1024 * 1024)}"}`],
])("an answer that is %s is not a lab's answer", async (_, body) => {
  const { ask } = await pretending(answering('200 OK', body));
  expect(await rejection(ask())).toMatchObject({
    code: 'lab.bad-answer',
    shortMessage: expect.stringContaining('cannot be used'),
    hints: ['nothing was changed: it is safe to try again'],
  });
});

test("a lab's refusal is shown printable, short, and without the token", async () => {
  const text = `\u001b[2Jno\u0007 ${TOKEN_WORD} ${'x'.repeat(10_000)}`;
  const body = JSON.stringify({ error: 'bad', description: text });
  const { ask } = await pretending(answering('422 Unprocessable Content', body));
  const { shortMessage } = (await rejection(ask(CHANGE))) as { shortMessage: string };
  expect(shortMessage).toMatch(/^the lab refuses \(422\): "\ufffd\[2Jno\ufffd /u);
  expect(shortMessage).not.toContain(TOKEN_WORD);
  expect(shortMessage.length).toBeLessThan(400);
});

test('a request whose caller has left is not awaited', async () => {
  const looking = new AbortController();
  const { server, ask } = await pretending(() => looking.abort(new Error('looked away')));
  await expect(ask(LOOK, looking.signal)).rejects.toThrow('looked away');
  expect(server.requests).toHaveLength(1);
});

test('an unreadable token is reported before anything is sent', async () => {
  const { server } = await pretending(answering('200 OK', '{}'));
  const token = () => Promise.reject(new Error('no token'));
  await expect(askLab({ url: server.origin, token }, CHANGE, LabTokens)).rejects.toThrow('no token');
  expect(server.connections()).toBe(0);
});
