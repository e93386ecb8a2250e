import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { transcriptPath } from '../../src/audit/transcript/kept.ts';
import { openRequestRecorder } from '../../src/compose/request-recorder.ts';
import { temporaryHome } from '../store/temporary-home.ts';

const RUN = '01K0000000000000000000000A';
const call = (words: string) => ({ at: new Date(0), argv: ['cf', words], exit: 0, bytes: 0, ms: 1 });

test('nothing is written behind what the record says of the transcript when a run is over, and nothing before it is left out', async () => {
  const home = temporaryHome();
  const recorder = openRequestRecorder();
  onTestFinished(() => recorder.close());
  await recorder.start({ home, runId: RUN, fingerprint: async () => '0a1b2c3d4e5f' });
  recorder.tool(call('first'));
  recorder.notes();
  recorder.tool(call('second'));
  const [kept] = recorder.notes(true);
  recorder.tool(call('third'));
  const written = readFileSync(transcriptPath(home, RUN), 'utf8');
  expect(kept?.body).toMatchObject({ lines: 2, bytes: written.length });
  expect(written).toContain('second');
  expect(written).not.toContain('third');
});
