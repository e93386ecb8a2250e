import { describe, expect, onTestFinished, test } from 'vitest';
import { openMachine } from '../bench-kit/machine.ts';
import { builtProduct } from '../bench-kit/product.ts';

const product = builtProduct({ cheapVault: true });

describe('a drill in which something goes wrong', () => {
  test.each(['lost-answers', 'half-answers', 'skewed-clock', 'cut-download'])(
    'still ends with proof: %s',
    async (name) => {
      const { code, stdout, stderr } = await drill(name);
      expect(code, stderr).toBe(0);
      expect(stdout).toContain('drill: proven');
    },
  );

  test.each(['region-loss', 'disk-pressure'])(
    'tests the recovery that its scenario asks for, and ends with proof: %s',
    async (name) => {
      const { code, stdout, stderr } = await drill(name);
      expect(code, stderr).toBe(0);
      expect(stdout).toMatch(
        /recover a lost instance into another one|restore a backup into the same instance/,
      );
      expect(stdout).toContain('drill: proven');
    },
  );

  test('says that no held key opens the newest backup: wrong-key', async () => {
    const { code, stderr } = await drill('wrong-key');
    expect(stderr).toContain('no key held here opens backup 2');
    expect(code).toBe(1);
  });

  test('stops where only a person can decide, and says so: colleague', async () => {
    const { code, stderr } = await drill('colleague');
    expect(stderr).toContain('the answer was lost, and the service shows 2 new backups');
    expect(code).toBe(5);
  });

  test('with an unknown scenario name lists the known names', async () => {
    const { code, stderr } = await drill('nothing-of-the-kind');
    expect(stderr).toContain('lost-answers');
    expect(code).toBe(2);
  });
});

function drill(scenario: string) {
  return openMachine(product, { onTestFinished }).run('drill', '--auto', '--scenario', scenario);
}
