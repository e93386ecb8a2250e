import { expect, test } from 'vitest';
import { homeFolder } from '../../src/config/find.ts';
import { loadConfig } from '../../src/config/load.ts';

test('the home is LIFEBOAT_HOME, else below an absolute XDG_STATE_HOME, else below the home of the user', () => {
  expect(homeFolder({ LIFEBOAT_HOME: '/a', XDG_STATE_HOME: '/b' })).toBe('/a');
  expect(homeFolder({ HOME: '/h', XDG_STATE_HOME: '/b' })).toBe('/b/lifeboat');
  expect(homeFolder({ HOME: '/h' })).toBe('/h/.local/state/lifeboat');
});

test.for(['state', './state', '../state', ''])(
  'a relative XDG folder is ignored, so that the home is the same in every working folder: %j',
  async (relative) => {
    const env = { HOME: '/h', XDG_STATE_HOME: relative, XDG_CONFIG_HOME: relative };
    expect(homeFolder(env)).toBe('/h/.local/state/lifeboat');
    await expect(loadConfig(env)).rejects.toMatchObject({
      hints: expect.arrayContaining([expect.stringContaining('/h/.config/lifeboat/lifeboat.yaml')]),
    });
  },
);
