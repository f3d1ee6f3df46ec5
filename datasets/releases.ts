/** Public releases: what they hold, and where their files are. */

/** Public release and its download. */
export interface Release {
  /** Name of the format (as in `datasets import`) and of the data set. */
  name: string;
  about: string;
  licence: string;
  page: string;
  /** Downloadable files; empty if the page has to be visited. */
  files: readonly ReleaseFile[];
  /** Manual steps in the folder to import; absent if `files` is complete. */
  byHand?: readonly string[];
}

interface ReleaseFile {
  /** File name expected by the importer. */
  name: string;
  url: string;
  /** Either of the two, hex. */
  sha256?: string;
  gitBlob?: string;
}

/** In alphabetical order, each named as its format and its data set. URLs are pinned to commits; hashes are of the content, git hashes are blob ids. */
export const releases: readonly Release[] = [
  {
    name: 'metaqa',
    about: 'questions about films, 1 to 3 hops',
    licence: 'CC BY 3.0',
    page: 'https://github.com/yuyuz/MetaQA',
    files: [],
    byHand: [
      'The page links to a folder on Google Drive, which only works in a browser.',
      'Take kb.txt and, of 1-hop, 2-hop and 3-hop, qa_train.txt, qa_dev.txt, qa_test.txt (folder vanilla) and their _qtype.txt.',
    ],
  },
  {
    name: 'opendialkg',
    about: 'dialogues whose turns walk a graph of films, books, music and sports',
    licence: 'CC-BY-NC-4.0 (non-commercial use)',
    page: 'https://github.com/facebookresearch/opendialkg',
    files: filesAt(
      'https://raw.githubusercontent.com/facebookresearch/opendialkg/e596daeaf599028aba82c71a488f7abce3099d80/data',
      {
        'opendialkg.csv': { gitBlob: 'dd056aeb80149bdd8632f4fec506d15f43b51f5e' },
        'opendialkg_triples.txt': { gitBlob: '585ad6949971f13c4d87fd93c56962b780d43c2c' },
        'opendialkg_relations.txt': { sha256: '408a547dcaf008ee18141e7cb59643e6a6a5850b81bcb9375cc8db35b057f5a3' },
      },
    ),
  },
  {
    name: 'pathquestion',
    about: 'questions of 2 and 3 hops with gold paths, on small parts of Freebase',
    licence: 'none stated; for research use',
    page: 'https://github.com/zmtkeke/IRN',
    files: filesAt(
      'https://raw.githubusercontent.com/zmtkeke/IRN/32f70d311978bfc1b911c60dff3e9d291b9a2447/PathQuestion',
      {
        'PQ-2H.txt': { sha256: '86f4a060a6d8a3d496671e6cfa73bf15b7f71422e9b49eefebc3f8fbe3618aef' },
        '2H-kb.txt': { sha256: '1e8d8e7f950d7d0fe949b377b065b569c5b84d87273ec1600331f5ba985145d7' },
        'PQ-3H.txt': { sha256: 'e0c5da286a830111e18122ad14ac195dc6bf90d42e2ec5c0c96522b51f16c69f' },
        '3H-kb.txt': { sha256: '27eb687c67086eb684a43f524cc9560f76f52161e1a038b6be45ff2a24c50374' },
      },
    ),
  },
  {
    name: 'webqsp',
    about: 'questions of web users, with semantic parses over Freebase',
    licence: 'Microsoft Research data licence; Freebase: CC BY',
    page: 'https://www.microsoft.com/en-us/download/details.aspx?id=52763',
    files: [],
    byHand: [
      'Download and unpack WebQSP.zip; take data/WebQSP.train.json and data/WebQSP.test.json.',
      'Add the triples around the questions’ topics: freebase_named_triples.tsv (head, relation, tail) and,',
      'if ids have names, mid2name.tsv (id, name), separated by tabs.',
    ],
  },
  {
    name: 'webquestions',
    about: 'questions of web users with answers by name',
    licence: 'CC BY 4.0; Freebase: CC BY',
    page: 'https://nlp.stanford.edu/software/sempre/',
    files: [],
    byHand: [
      'Take webquestions.examples.train.json and webquestions.examples.test.json.',
      'Add triples of Freebase, as for webqsp.',
    ],
  },
];

/** @param hashes by file name, of files in one folder */
function filesAt(folder: string, hashes: Record<string, Pick<ReleaseFile, 'sha256' | 'gitBlob'>>): ReleaseFile[] {
  return Object.entries(hashes).map(([name, hash]) => ({ name, url: `${folder}/${name}`, ...hash }));
}
