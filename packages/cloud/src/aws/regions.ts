/** The regions of all partitions, as of 2026. AWS adds some every year, so another name is no mistake for certain. */
const REGIONS: ReadonlySet<string> = new Set(
  [
    'af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1 ap-southeast-2',
    'ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 ca-central-1 ca-west-1 eu-central-1 eu-central-2 eu-north-1',
    'eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1 me-central-1 me-south-1 mx-central-1 sa-east-1 us-east-1 us-east-2',
    'us-west-1 us-west-2 aws-global cn-north-1 cn-northwest-1 us-gov-east-1 us-gov-west-1 us-iso-east-1 us-iso-west-1 us-isob-east-1',
    'us-isob-west-1 eu-isoe-west-1 us-isof-east-1 us-isof-south-1 eusc-de-east-1',
  ].flatMap((line) => line.split(' ')),
);

export function regionWarnings(region: string): string[] {
  if (region === '' || REGIONS.has(region)) return [];
  return [
    `region: ${JSON.stringify(region)} is none of the regions of AWS that this version knows, such as eu-central-1; calls go there all the same`,
  ];
}
