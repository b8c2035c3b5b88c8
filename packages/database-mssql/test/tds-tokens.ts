/** The tokens of a server's answers, as [MS-TDS] 2.2.7 lays them out. */

export type Value = string | number;
export type ResultRow = Readonly<Record<string, Value>>;

export interface ServerMessage {
  readonly number: number;
  readonly severity: number;
  readonly message: string;
}

const u8 = (value: number): Buffer => Buffer.from([value]);
const u16 = (value: number): Buffer => Buffer.from([value & 0xff, value >> 8]);
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const ucs2 = (text: string): Buffer => Buffer.from(text, 'ucs2');
const shortText = (text: string): Buffer => Buffer.concat([u8(text.length), ucs2(text)]);
const sized = (token: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u8(token), u16(body.length), body]);
};

const STATUS = { final: 0, error: 0x2, count: 0x10, attention: 0x20 };
/** Latin1_General, UTF-16 columns. */
const COLLATION = Buffer.from([0x09, 0x04, 0xd0, 0x00, 0x34]);

export function loginAck(): Buffer {
  return sized(0xad, u8(1), Buffer.from([0x74, 0, 0, 4]), shortText('Microsoft SQL Server'), Buffer.from([16, 0, 0, 0]));
}

export function errorToken({ number, severity, message }: ServerMessage): Buffer {
  return sized(
    0xaa,
    u32(number),
    u8(1),
    u8(severity),
    Buffer.concat([u16(message.length), ucs2(message)]),
    shortText('DOUBLE'),
    shortText(''),
    u32(1),
  );
}

export function done(kind: 'final' | 'error' | 'attention', rowCount?: number): Buffer {
  const status = STATUS[kind] | (rowCount === undefined ? 0 : STATUS.count);
  const count = Buffer.alloc(8);
  count.writeBigUInt64LE(BigInt(rowCount ?? 0));
  return Buffer.concat([u8(0xfd), u16(status), u16(0), count]);
}

/** The driver must send the descriptor of its transaction with everything that follows. */
export function transactionBegun(descriptor: Buffer): Buffer {
  return sized(0xe3, u8(8), u8(descriptor.length), descriptor, u8(0));
}

export function transactionEnded(how: 'committed' | 'rolled back', descriptor: Buffer): Buffer {
  return sized(0xe3, u8(how === 'committed' ? 9 : 10), u8(0), u8(descriptor.length), descriptor);
}

export function databaseChanged(to: string, from: string): Buffer {
  return sized(0xe3, u8(1), shortText(to), shortText(from));
}

export function resultSet(columns: readonly string[], rows: readonly ResultRow[], numbers: ReadonlySet<string>): Buffer {
  const heads = columns.map((name) => {
    const type = numbers.has(name) ? Buffer.from([0x26, 4]) : Buffer.concat([u8(0xe7), u16(8000), COLLATION]);
    return Buffer.concat([u32(0), u16(0), type, shortText(name)]);
  });
  const cells = rows.flatMap((row) => [
    u8(0xd1),
    ...columns.map((name) => {
      const value = row[name]!;
      if (typeof value === 'number') return Buffer.concat([u8(4), u32(value)]);
      return Buffer.concat([u16(value.length * 2), ucs2(value)]);
    }),
  ]);
  return Buffer.concat([u8(0x81), u16(columns.length), ...heads, ...cells]);
}
