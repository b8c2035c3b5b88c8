import type { Filter } from './filter.ts';

const tags = {
  and: 0xa0,
  or: 0xa1,
  not: 0xa2,
  equal: 0xa3,
  substring: 0xa4,
  greater: 0xa5,
  less: 0xa6,
  present: 0x87,
  approx: 0xa8,
  extensible: 0xa9,
};

/** The filter as RFC 4511 section 4.5.1.7 puts it on the wire. */
export function encodeFilter(filter: Filter): Buffer {
  const tag = tags[filter.kind];
  switch (filter.kind) {
    case 'and':
    case 'or':
      return element(tag, ...filter.filters.map(encodeFilter));
    case 'not':
      return element(tag, encodeFilter(filter.filter));
    case 'present':
      return element(tag, Buffer.from(filter.attribute));
    case 'substring': {
      const pieces = filter.any.map((piece) => element(0x81, piece));
      if (filter.initial !== undefined) pieces.unshift(element(0x80, filter.initial));
      if (filter.final !== undefined) pieces.push(element(0x82, filter.final));
      return element(tag, element(0x04, Buffer.from(filter.attribute)), element(0x30, ...pieces));
    }
    case 'extensible': {
      const pieces: Buffer[] = [];
      if (filter.rule !== undefined) pieces.push(element(0x81, Buffer.from(filter.rule)));
      if (filter.attribute !== undefined) pieces.push(element(0x82, Buffer.from(filter.attribute)));
      pieces.push(element(0x83, filter.value));
      if (filter.dnAttributes) pieces.push(Buffer.from([0x84, 1, 0xff]));
      return element(tag, ...pieces);
    }
    default:
      return element(tag, element(0x04, Buffer.from(filter.attribute)), element(0x04, filter.value));
  }
}

function element(tag: number, ...content: readonly Buffer[]): Buffer {
  let length = 0;
  for (const piece of content) length += piece.length;
  const header =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : length < 0x10000
          ? [tag, 0x82, length >> 8, length & 0xff]
          : [tag, 0x84, length >>> 24, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff];
  return Buffer.concat([Buffer.from(header), ...content]);
}
