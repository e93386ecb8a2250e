import { describe, expect, test } from 'vitest';
import { setup } from 'xstate';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { Answer, Question } from '../../machines/parts/question.ts';
import type { StateMeta } from '../../machines/parts/runbook.ts';
import { Secret } from '../../src/base/secret.ts';
import { decide, type TakeSecret } from '../../src/runner/answer.ts';

const noSecret = () => Promise.reject(new Error('nothing secret is asked for'));

/** The result of an answer to a question, from a machine that asks nothing else. */
function answering(question: Question, take: TakeSecret = noSecret) {
  const machine = setup({ types: { meta: {} as StateMeta<unknown, never> } }).createMachine({
    initial: 'asking',
    states: { asking: { meta: { step: 'one', title: 'asking', question: () => question as never } } },
  });
  const snapshot = machine.getInitialSnapshot({} as never);
  return (answer: Answer) => decide(machine.resolveState({ value: snapshot.value }), answer, take);
}

describe('a question for a moment', () => {
  const answer = answering({
    kind: 'time',
    prompt: 'when?',
    event: 'operator.chooseTime',
    earliest: '2026-03-01T02:00:00Z',
    latest: '2026-03-01T03:00:00.500Z',
    options: [],
  });
  const at = (time: string) => answer({ event: 'operator.chooseTime', time });

  test('gives the machine the moment in UTC, whatever zone it was given in', async () => {
    const { event } = await at('2026-03-01T03:30:00+01:00');
    expect(event).toEqual({ type: 'operator.chooseTime', time: '2026-03-01T02:30:00.000Z' });
  });

  test('accepts both limits and nothing beyond them', async () => {
    await at('2026-03-01T02:00:00Z');
    await at('2026-03-01T03:00:00.500Z');
    for (const time of ['2026-03-01T01:59:59.999Z', '2026-03-01T03:00:00.501Z'])
      await expect(at(time)).rejects.toMatchObject({ code: 'time.out-of-range' });
  });

  test.each(['2026-03-01T02:30:00', '2026-03-01', 'now', ''])(
    'refuses a text without a moment or a zone: %s',
    async (time) => {
      await expect(at(time)).rejects.toMatchObject({ code: 'answer.misfit' });
    },
  );
});

describe('a question for a key', () => {
  const asked = {
    kind: 'secret',
    prompt: 'the key',
    event: 'operator.provideKey',
    twice: false,
    options: [],
  } as const;
  const given = { event: 'operator.provideKey', secret: new Secret('an old key with spaces, ä') };
  const taken = async (key: Secret) => ({ fingerprint: '0123456789ab', length: key.length });

  test('accepts one that opens old backups unchanged, and refuses a new one that a shell would change', async () => {
    const old = answering({ ...asked, minLength: 1, isNew: false }, taken);
    expect((await old(given)).event).toMatchObject({ fingerprint: '0123456789ab' });
    const fresh = answering({ ...asked, minLength: 1, isNew: true }, taken);
    await expect(fresh(given)).rejects.toMatchObject({ code: 'key.characters' });
  });
});

describe('a question for a word', () => {
  const answer = answering({
    kind: 'text',
    prompt: 'which guid?',
    event: 'operator.provideGuid',
    pattern: { source: '[0-9a-f-]{36}', says: 'a guid has 36 characters' },
    options: [],
  });

  test('accepts it without surrounding spaces, and refuses others with the sentence that says what fits', async () => {
    const guid = '3a2e59ee-40cb-472a-91d0-502ab259918c';
    const { event } = await answer({ event: 'operator.provideGuid', text: ` ${guid}\n` });
    expect(event).toEqual({ type: 'operator.provideGuid', text: guid });
    for (const text of [`${guid}x`, `x\n${guid}`])
      await expect(answer({ event: 'operator.provideGuid', text })).rejects.toThrow(
        'a guid has 36 characters',
      );
    await expect(answer({ event: 'operator.provideGuid', text: '  ' })).rejects.toThrow(
      'nothing was entered',
    );
  });
});

describe('a question about the follow-ups', () => {
  const followUp = (id: string, more: Partial<FollowUp> = {}): FollowUp => ({
    id,
    kind: 'rebind',
    subject: id,
    what: `rebind ${id}`,
    commands: [],
    ...more,
  });
  const answer = answering({
    kind: 'followUps',
    prompt: '2 follow-ups open: the run closes when each is done or skipped',
    followUps: [
      followUp('api', { doable: 'platform' }),
      followUp('report'),
      followUp('done', { closed: { how: 'hand', text: 'seen', evidence: {} } }),
    ],
    close: 'operator.reportDone',
    skip: 'operator.skip',
    doNow: 'operator.doNow',
    options: [],
  });

  test('accepts a proof, a reason or an order, each for one follow-up', async () => {
    const closed = await answer({
      event: 'operator.reportDone',
      id: 'report',
      text: ' it runs, see ticket 7 ',
    });
    expect(closed.event).toEqual({
      type: 'operator.reportDone',
      id: 'report',
      text: 'it runs, see ticket 7',
    });
    const skipped = await answer({ event: 'operator.skip', id: 'api', text: 'retired' });
    expect(skipped.event).toEqual({ type: 'operator.skip', id: 'api', text: 'retired' });
    const done = await answer({ event: 'operator.doNow', id: 'api' });
    expect(done.event).toEqual({ type: 'operator.doNow', id: 'api' });
  });

  test('closes nothing without a text, nothing unknown and nothing twice', async () => {
    const refused: Answer[] = [
      { event: 'operator.reportDone', id: 'api', text: '  ' },
      { event: 'operator.skip', id: 'api' },
      { event: 'operator.reportDone', id: 'nobody', text: 'seen' },
      { event: 'operator.reportDone', text: 'seen' },
      { event: 'operator.reportDone', id: 'done', text: 'seen' },
      { event: 'operator.doNow', id: 'report' },
    ];
    for (const one of refused) await expect(answer(one)).rejects.toMatchObject({ code: 'answer.misfit' });
  });
});

describe('a question about a step that failed', () => {
  const answer = answering({
    kind: 'choice',
    prompt: 'the backup failed',
    options: [{ event: { type: 'operator.skip' }, label: 'skip this step' }],
  });

  test('is not answered by an answer about a follow-up, which would skip the step', async () => {
    for (const event of ['operator.skip', 'operator.reportDone', 'operator.doNow'])
      await expect(answer({ event, id: 'remove-target', text: 'kept for a week' })).rejects.toMatchObject({
        code: 'answer.misfit',
        message: expect.stringContaining('waits for another answer first: the backup failed'),
      });
    const { event } = await answer({ event: 'operator.skip', text: 'kept for a week' });
    expect(event).toEqual({ type: 'operator.skip' });
  });
});
