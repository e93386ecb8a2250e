import { expect, test, vi } from 'vitest';
import { asksApp, paintEarly, VALUED } from '../../src/cli/early-frame.ts';
import { commandLine, withAllBelow } from '../../src/cli/program.ts';

test('knows each flag of run and resume that takes a value, and no other', () => {
  const takingScreen = withAllBelow(commandLine('0.0.0')).filter((one) =>
    ['run', 'resume'].includes(one.name()),
  );
  const valued = takingScreen.flatMap(({ options }) =>
    options
      .filter(({ required, optional }) => required || optional)
      .flatMap(({ short, long }) => [short, long]),
  );
  expect(VALUED).toEqual(new Set(valued.filter((flag) => flag !== undefined)));
});

test.each([
  ['run rotate-key -i orders', 'run rotate-key', 'orders'],
  ['run rotate-key orders', 'run rotate-key', 'orders'],
  ['--config lifeboat.yaml run rotate-key orders --reason drill', 'run rotate-key', 'orders'],
  ['run --to 14:32 restore-point-in-time orders', 'run restore-point-in-time', 'orders'],
  ['--config lifeboat.yaml resume', 'resume', ''],
  ['run change-instance orders --action restart', 'run change-instance', 'orders'],
  ['run change-instance --action=update orders', 'run change-instance', 'orders'],
])('takes the screen at once for %s', (line, title, instance) => {
  const painted = paintedBy(line);
  expect(painted).toContain('\u001b[?1049h');
  expect(painted).toContain(title);
  expect(painted).toContain(instance);
});

test('opens the app also with a config and with a reason to work alone, and with no other arguments', () => {
  const stream = { isTTY: true, columns: 80, rows: 24 };
  const context = { stdin: stream, stdout: stream, env: { TERM: 'xterm' } } as never;
  for (const argv of [[], ['--config', 'x'], ['--alone', 'why'], ['--config', 'x', '--alone', 'why']])
    expect(asksApp(argv, context)).toBe(true);
  for (const argv of [['--alone'], ['runs'], ['--config', 'x', 'runs'], ['-o', 'json']])
    expect(asksApp(argv, context)).toBe(false);
});

test.each([
  'run rotate-key orders --dry-run',
  '-o json run rotate-key orders',
  'run rotate-key orders --output=yaml',
  'run change-instance orders',
  'runs --open',
  '--config run runs',
  '',
])('leaves the screen alone for "%s"', (line) => {
  expect(paintedBy(line)).toBe('');
});

/** What goes to a terminal of 80 columns before anything is loaded. */
function paintedBy(line: string): string {
  const write = vi.fn<(text: string) => boolean>(() => true);
  const stream = { isTTY: true, columns: 80, rows: 24, write };
  // It listens for signals as long as nothing else does: not in the process of the tests.
  vi.spyOn(process, 'on').mockReturnValue(process);
  const context = { stdin: stream, stdout: stream, env: { TERM: 'xterm' } } as unknown as Parameters<
    typeof paintEarly
  >[1];
  paintEarly(line.split(' '), context);
  vi.restoreAllMocks();
  return write.mock.calls.map(([text]) => text).join('');
}
