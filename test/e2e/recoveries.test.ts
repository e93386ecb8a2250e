import { describe, test } from 'vitest';
import { useBenches } from '../bench-kit/test-bench.ts';
import { CASES, runFlow, V0_CASES } from './flows.ts';

const IN_PROCESSES = 'disaster-recovery --perform';

describe.concurrent('a recovery against a foreign service', () => {
  const bench = useBenches();

  test.for([...CASES, ...V0_CASES])(
    '$name in revision $revision ends as it should, and is on record',
    async (flow, context) => {
      const { expect } = context;
      const { revision } = flow;
      // One of them as people run it, in processes; the suite of crashes runs all of them so.
      const commandsHere = revision !== 62 || flow.name !== IN_PROCESSES;
      const opened = await bench(context, { revision, commandsHere });
      const { end, sent } = await runFlow(opened, flow);
      expect(end.code, end.stderr).toBe(flow.code);
      expect(sent().every(({ did }) => did)).toBe(true);
      const audit = await opened.here('audit', 'verify');
      expect(audit.code, audit.stdout).toBe(0);
      expect((await opened.here('followups')).code).toBe(0);
    },
  );
});
