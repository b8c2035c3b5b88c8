// Fails on words that the project does not use, and prints the ones it uses. Names on disk and on the wire, and recordings, keep theirs.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A pattern, what to write instead, and the places that keep it: the start of a path, each with its reason. */
const GONE = [
  [/\blanes?\b|[a-z]Lanes?\b|\bLanes?(?=[A-Z])/, 'queue or bulkhead'],
  [/\b(Call|Target)Gate\b|\bTargetGates\b/, 'bulkhead and circuit breaker'],
  [/\bhas a pause\b/, 'its circuit breaker is open'],
  [/\bannounc(e|es|ed|ing|ement|ements)\b/i, 'change notification, notify, declare'],
  [/\bfollowers?\b/i, 'subscriber or watcher'],
  [/\bspellings?(Key)?\b|\bspelled\b|\bspelt\b/i, 'variant, canonical form, verbatim'],
  [/\b(left|leave|leaves) alone\b/, 'skipped, ignored or unchanged'],
  [/\bout of use\b|\boutOfUse\b/i, 'quarantined'],
  [/\bworked off\b/, 'processed'],
  [/\bincumbents?\b/i, 'Vault and OpenBao'],
  [/\bplay(s|ed)\b/, 'emulates, emulated'],
  [/\bmortal/i, 'killable'],
  [/\blogIn\b/, 'login'],
  [/\b(runAs|tellOwner|inLanes)\b/, 'runAttributed, notifyOwner, mapConcurrently'],
  [/\bunless told\b/, 'by default'],
  [/\bof before\b(?!\)|\?)/, 'previous'],
  [/\bmade up for\b/, 'catches up'],
  [/\bgiv(e|es|en) back\b|\bgave back\b/, 'return'],
  [/\bforeign-code\b/, 'attribution'],
  [/\bput(s|ting)? off\b/, 'postponed'],
  [/\btell(s|ing)? of\b/, 'says about, reports, shows'],
  [/\bnobody( here)? knows\b/i, 'unknown'],
  [/\b(is|are|was|were) told\b(?! apart)/, 'learns, gets, is notified'],
  [/\blook(s|ed)? at it\b/, 'checks, reads, sees'],
  [/\bstands? outside\b/i, 'exists outside'],
  [/\bof old\b(?! (secrets|leases|ones|policies|stores|keys|records|versions))(?=[ .,:;])/, 'older'],
  [/\b(named|chosen|entered) by hand\b/, 'typed'],
];

/** Where a word stays, and why. */
const KEPT = [
  [/^packages\/acceptance\/scripts\/words\.mjs$/, 'this file'],
  [/^docs\/reference\//, 'generated from the declarations'],
  [/\/(wire|golden|recordings|fixtures)\//, 'recorded answers'],
  [/package-lock\.json$/, 'names of packages'],
];

/** What a line may say all the same: names on disk, on the wire, or of others. */
const EXCEPTIONS = [
  // Tables, keys and collections that stores of earlier versions have.
  ['_announced', 'the table of change notifications on PostgreSQL'],
  ['AS announced', 'its alias in SQL'],
  ['announced.id', 'its alias in SQL'],
  ['announced.keys', 'its alias in SQL'],
  ['FROM announced', 'its alias in SQL'],
  ['WITH announced', 'its alias in SQL'],
  ['\\0announced', 'the prefix of change notifications in LMDB'],
  ['entity-alias-spell', 'collections of identity'],
  // What operators see elsewhere.
  ["'announcements'", 'the suffix of application_name in pg_stat_activity'],
  ['`announcements`', 'the suffix of application_name in pg_stat_activity'],
  ['strongroom announcements', 'the suffix of application_name in pg_stat_activity'],
  // Fields of a provider.
  ['followers', "fields of GitHub's API", /^packages\/sync-testkit\/src\/servers\/github/],
  // Changelogs that name what was renamed.
  ['Renamed: ', 'tells the old name'],
];

const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\0')
  .filter((file) => /\.(ts|js|mjs|md|json|yml)$/.test(file) && !KEPT.some(([place]) => place.test(file)));

let found = 0;
for (const file of files) {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    continue;
  }
  const lines = text.split('\n');
  for (const [number, line] of lines.entries()) {
    for (const [word, instead] of GONE) {
      const hit = word.exec(line);
      if (!hit || EXCEPTIONS.some(([text, , place]) => line.includes(text) && (place?.test(file) ?? true))) continue;
      found += 1;
      console.error(`${file}:${number + 1}: "${hit[0]}": say ${instead}`);
    }
  }
}
if (found > 0) {
  console.error(`${found} words that the project does not use`);
  process.exitCode = 1;
}
