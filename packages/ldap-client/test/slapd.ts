export { describeWithSlapd, slapdMissing, startSlapd, type Slapd, type SlapdOptions } from '@strongroom/lab';
