import type { PageFile } from './page-file.ts';

export interface CodedBody {
  /** Absent for the plain bytes. */
  readonly coding?: 'br' | 'gzip';
  readonly body: Uint8Array;
}

/**
 * The variant of a file that `Accept-Encoding` prefers: by weight, and brotli before gzip before plain at the same weight. The plain bytes where
 * the header is absent or rules everything out.
 */
export function preferredCoding(file: PageFile, header: string | undefined): CodedBody {
  const plain: CodedBody = { body: file.identity };
  if (header === undefined) return plain;
  const weights = weightsOf(header);
  const other = weights.get('*') ?? 0;
  const offers: { readonly coded: CodedBody; readonly weight: number }[] = [
    ...(file.brotli ? [{ coded: { coding: 'br', body: file.brotli } as const, weight: weights.get('br') ?? other }] : []),
    ...(file.gzip
      ? [{ coded: { coding: 'gzip', body: file.gzip } as const, weight: weights.get('gzip') ?? weights.get('x-gzip') ?? other }]
      : []),
  ];
  const identity = weights.get('identity');
  let best = { coded: plain, weight: identity ?? 0 };
  for (const offer of offers.reverse()) if (offer.weight > 0 && offer.weight >= best.weight) best = offer;
  return best.coded;
}

/** `br;q=0.5, gzip`: the weight of each coding, 1 by default; what is no number counts as 0. */
function weightsOf(header: string): ReadonlyMap<string, number> {
  return new Map(
    header.split(',').map((item) => {
      const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      const number = weight === undefined ? 1 : Number(weight.slice(2));
      return [name, number >= 0 && number <= 1 ? number : 0];
    }),
  );
}
