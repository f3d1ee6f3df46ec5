/** Where the releases of others lie, and getting those that can be had from an address. */
import { join } from 'node:path';
import { downloadFile, type DownloadOptions } from '../src/run/download.js';
import { WorkbenchError } from '../src/run/errors.js';
import { confined, kgwalkHome } from '../src/run/locations.js';
import { nearestName } from '../src/run/printable.js';

/** One file with its address and hash. */
export interface ReleaseFile {
  /** As the importer looks for it. */
  name: string;
  url: string;
  /** One of the two, hex. */
  sha256?: string;
  gitBlob?: string;
}

/** A release of somebody else, and how it can be had. */
export interface Release {
  /** Of the format that `datasets import` reads, and of the data set. */
  name: string;
  about: string;
  licence: string;
  /** Its own page. */
  page: string;
  /** What can be had from an address; none: the page has to be visited. */
  files: readonly ReleaseFile[];
  /** What to do by hand, in the folder that is then imported; absent where `files` are all. */
  byHand?: readonly string[];
}

const openDialKg =
  'https://raw.githubusercontent.com/facebookresearch/opendialkg/e596daeaf599028aba82c71a488f7abce3099d80/data';
const pathQuestion =
  'https://raw.githubusercontent.com/zmtkeke/IRN/32f70d311978bfc1b911c60dff3e9d291b9a2447/PathQuestion';

/** In alphabetical order. Addresses name commits; hashes are of the content there, those of git are its own ids. */
export const releases: readonly Release[] = [
  {
    name: 'metaqa',
    about: 'questions about films, 1 to 3 hops',
    licence: 'CC BY 3.0',
    page: 'https://github.com/yuyuz/MetaQA',
    files: [],
    byHand: [
      'The page links to a folder on Google Drive, which gives files to browsers alone.',
      'Take kb.txt and, of 1-hop, 2-hop and 3-hop, qa_train.txt, qa_dev.txt, qa_test.txt (folder vanilla) and their _qtype.txt.',
    ],
  },
  {
    name: 'opendialkg',
    about: 'dialogues whose turns walk a graph of films, books, music and sports',
    licence: 'CC-BY-NC-4.0 (non-commercial use)',
    page: 'https://github.com/facebookresearch/opendialkg',
    files: filesAt(openDialKg, {
      'opendialkg.csv': { gitBlob: 'dd056aeb80149bdd8632f4fec506d15f43b51f5e' },
      'opendialkg_triples.txt': { gitBlob: '585ad6949971f13c4d87fd93c56962b780d43c2c' },
      'opendialkg_relations.txt': { sha256: '408a547dcaf008ee18141e7cb59643e6a6a5850b81bcb9375cc8db35b057f5a3' },
    }),
  },
  {
    name: 'pathquestion',
    about: 'questions of 2 and 3 hops with gold paths, on small parts of Freebase',
    licence: 'none stated; for research use',
    page: 'https://github.com/zmtkeke/IRN',
    files: filesAt(pathQuestion, {
      'PQ-2H.txt': { sha256: '86f4a060a6d8a3d496671e6cfa73bf15b7f71422e9b49eefebc3f8fbe3618aef' },
      '2H-kb.txt': { sha256: '1e8d8e7f950d7d0fe949b377b065b569c5b84d87273ec1600331f5ba985145d7' },
      'PQ-3H.txt': { sha256: 'e0c5da286a830111e18122ad14ac195dc6bf90d42e2ec5c0c96522b51f16c69f' },
      '3H-kb.txt': { sha256: '27eb687c67086eb684a43f524cc9560f76f52161e1a038b6be45ff2a24c50374' },
    }),
  },
  {
    name: 'webqsp',
    about: 'questions of people, with their meaning over Freebase',
    licence: 'Microsoft Research data licence; Freebase: CC BY',
    page: 'https://www.microsoft.com/en-us/download/details.aspx?id=52763',
    files: [],
    byHand: [
      'Download and unpack WebQSP.zip; take data/WebQSP.train.json and data/WebQSP.test.json.',
      'Put the triples around the questions’ topics beside them: freebase_named_triples.tsv (head, relation, tail) and,',
      'where ids have names, mid2name.tsv (id, name), separated by tabs.',
    ],
  },
  {
    name: 'webquestions',
    about: 'questions of people with answers by name',
    licence: 'CC BY 4.0; Freebase: CC BY',
    page: 'https://nlp.stanford.edu/software/sempre/',
    files: [],
    byHand: [
      'Take webquestions.examples.train.json and webquestions.examples.test.json.',
      'Put triples of Freebase beside them, as for webqsp.',
    ],
  },
];

/** @param hashes of the files of one folder, by name */
function filesAt(folder: string, hashes: Record<string, Pick<ReleaseFile, 'sha256' | 'gitBlob'>>): ReleaseFile[] {
  return Object.entries(hashes).map(([name, hash]) => ({ name, url: `${folder}/${name}`, ...hash }));
}

/** @throws WorkbenchError `usage` that names the nearest release */
export function releaseOf(name: string): Release {
  const found = releases.find((release) => release.name === name);
  if (found) return found;
  const names = releases.map((release) => release.name);
  const near = nearestName(name, names);
  throw new WorkbenchError('usage', `expected the name of a release, got ${JSON.stringify(name)}`, {
    hint: `${near === undefined ? '' : `Did you mean "${near}"? `}Releases: ${names.join(', ')}. The demo data: kgwalk datasets demo.`,
  });
}

/**
 * Downloads a release into `<home>/downloads/<name>`; files that are there already do not come again.
 * @returns the folder
 * @throws what `downloadFile` throws
 */
export async function downloadRelease(
  { name, files }: Release,
  { home = kgwalkHome(), ...options }: Pick<DownloadOptions, 'progress' | 'signal'> & { home?: string } = {},
): Promise<string> {
  const folder = join(home, 'downloads', name);
  for (const { name: file, ...source } of files) {
    await downloadFile({ ...source, ...options, file: confined(folder, file), label: file });
  }
  return folder;
}
