import { linesOf, type Share } from './shares.ts';

/** What a share says beside its lines. */
export interface ShareAbout {
  /** The name of the sealed file that the shares open. */
  readonly file: string;
  /** Whose keys are inside, such as `2 keys of orders`. */
  readonly keys: string;
  /** RFC 3339. */
  readonly madeAt: string;
}

/** The text file of a share. */
export function shareText(share: Share, about: ShareAbout): string {
  return `${[...head(share, about), '', ...linesOf(share)].join('\n')}\n`;
}

function head({ set, number, threshold, shares }: Share, { file, keys, madeAt }: ShareAbout): string[] {
  return [
    'Lifeboat key share, version 1',
    `set: ${set}`,
    `share: ${number} of ${shares}; ${threshold} of them open the file`,
    `file: ${file} (${keys})`,
    `made: ${madeAt}`,
  ];
}

/**
 * The page of a share, to be printed: the text, and a QR code of its lines. It needs nothing from outside.
 */
export async function sharePage(share: Share, about: ShareAbout): Promise<string> {
  const { renderSVG } = await import('uqr');
  const code = renderSVG(linesOf(share).join('\n'), { ecc: 'M', border: 4, pixelSize: 4 });
  const { number, shares, threshold } = share;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Key share ${number} of ${shares}</title>
<style>
@page { size: A4; margin: 20mm }
body { font: 12pt/1.5 sans-serif; color: #000; background: #fff; max-width: 170mm; margin: 10mm auto }
pre { font: 13pt/1.9 monospace; overflow-wrap: anywhere; white-space: pre-wrap }
svg { width: 60mm; height: 60mm }
</style>
</head>
<body>
<h1>Key share ${number} of ${shares}</h1>
<p>Keep this page where nobody else finds it, and away from the other shares.
${threshold} of the ${shares} shares, together with the file ${escaped(about.file)}, give the keys back:
<code>lifeboat keys join FILE SHARE…</code>, with a file for each share, or without any to type them.</p>
<pre>
${escaped(shareText(share, about))}</pre>
${code}
<p>Read it back once it is printed, with <code>--check</code>.</p>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
