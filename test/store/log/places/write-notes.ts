import { homePlace } from '../../../../src/store/log/places/folder-place.ts';
import { freshSigner } from '../../fresh-signer.ts';
import { noteOf } from './notes.ts';

/** Writes one checkpoint after another, and prints a line for each, until it is killed. */
const [home = '', from = '0'] = process.argv.slice(2);
const [place, signer] = [homePlace(home), freshSigner()];
for (let size = Number(from) + 1; ; size += 1) {
  await place.write(noteOf(signer, size), signer);
  process.stdout.write(`${size}\n`);
}
