import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { transcriptPath } from '../../src/audit/transcript/transcript.ts';
import { openRequestRecorder } from '../../src/compose/request-recorder.ts';
import { temporaryHome } from '../store/temporary-home.ts';

const RUN = '01K0000000000000000000000A';
const call = (words: string) => ({
  ...{ at: new Date(0), method: 'GET', url: `https://host/${words}`, headers: {}, body: undefined },
  ...{ secrets: [], hidden: [], status: 200, answerHeaders: {}, bytes: 0, sha256: '', answer: undefined },
  ...{ ms: 1, error: undefined },
});

test('nothing is written after the end that the record states for the transcript, and nothing before it is left out', async () => {
  const home = temporaryHome();
  const recorder = openRequestRecorder();
  onTestFinished(() => recorder.close());
  await recorder.start({ home, runId: RUN, fingerprint: async () => '0a1b2c3d4e5f' });
  recorder.platform(call('first'));
  recorder.notes();
  recorder.platform(call('second'));
  const [kept] = recorder.notes(true);
  recorder.platform(call('third'));
  const written = readFileSync(transcriptPath(home, RUN), 'utf8');
  expect(kept?.body).toMatchObject({ lines: 2, bytes: written.length });
  expect(written).toContain('second');
  expect(written).not.toContain('third');
});
