Lemma below_true : forall a test, below a test = true -> forall u, (u < a)%nat -> test u = true.
Proof. intros a test H u Hu. unfold below in H. rewrite forallb_forall in H. apply H, in_seq. lia. Qed.

(* ---- The forms stand for the values and their variations ---- *)

Section Soundness.
Variables (n t : nat) (net : list node) (theta : list Z) (w : field).
Hypothesis theta_long : length theta = n.
Let point : list dual := along theta (field_at n w theta).

Lemma point_entry : forall j, (j < n)%nat ->
  fst (nth j point dzero) = nth j theta 0 /\ snd (nth j point dzero) = value theta (component_of w j).
Proof.
  intros j Hj. unfold point, along, dzero, dual. rewrite combine_nth.
  - cbn [fst snd]. unfold field_at. rewrite nth_map_seq by assumption. split; reflexivity.
  - unfold field_at. rewrite map_length, seq_length. assumption.
Qed.

Lemma variable_value : forall W i j, value theta (variable W i j) = nth (place W i j) theta 0.
Proof. intros. unfold value, variable. cbn [total monomial_value]. rewrite Nat2Z.id. ring. Qed.

Lemma fits_place : forall W rows columns i j, fits n W rows columns = true -> (i < rows)%nat -> (j < columns)%nat ->
  rows_in W = rows /\ columns_in W = columns /\ (place W i j < n)%nat.
Proof.
  intros W rows columns i j H Hi Hj. unfold fits in H. rewrite !Bool.andb_true_iff in H. destruct H as [[R C] F].
  apply Nat.eqb_eq in R, C. apply Nat.leb_le in F. unfold place. rewrite C. repeat split; try assumption.
  assert (i * columns + columns <= rows * columns)%nat by (rewrite <- Nat.mul_succ_l; apply Nat.mul_le_mono_r; lia). lia.
Qed.
Lemma block_entry : forall W rows columns i j, fits n W rows columns = true -> (i < rows)%nat -> (j < columns)%nat ->
  fst (cell (block_matrix W point) i j) = value theta (variable W i j) /\
  snd (cell (block_matrix W point) i j) = value theta (moved w W i j).
Proof.
  intros W rows columns i j H Hi Hj. destruct (fits_place W rows columns i j H Hi Hj) as [R [C P]].
  rewrite cell_block by lia. rewrite variable_value. apply point_entry. assumption.
Qed.

Variables (values : list matrix) (forms changes : list (list form)) (thin : list bool).

Definition score_of (a s k : nat) : dual :=
  match nth (a - 1) net nowhere with
  | Attention Q K _ z => score t (block_matrix Q point) (block_matrix K point) (nth z values []) s k
  | _ => dzero
  end.
Fixpoint symbol_value (x : symbol) (k : nat) : Z :=
  match x with
  | Input i => fst (cell (nth 0 values []) i k)
  | One => 1
  | Power e i => fst (cell (nth e values []) i k)
  | Mixed e i j =>
      match nth (e - 1) net nowhere with
      | Activation r z => fst (power (cell (nth z values []) i k) (r - 1)) * fst (cell (nth z values []) j k)
      | _ => 0
      end
  | Through a y => sum t (fun s => symbol_value y s * fst (score_of a s k))
  end.
Definition row_value (f : form) (k : nat) : Z := form_value theta (fun x => symbol_value x k) f.

Record represents (F : matrix) (f df : list form) : Prop := {
  form_count : length f = length F;
  change_count : length df = length F;
  is_rectangular : rectangular t F;
  real_part : forall i k, (k < t)%nat -> fst (cell F i k) = row_value (row f i) k;
  eps_part : forall i k, (k < t)%nat -> snd (cell F i k) = row_value (row df i) k }.

Lemma row_map_seq : forall f m i, (i < m)%nat -> row (map f (seq 0 m)) i = f i.
Proof. intros. apply nth_map_seq. assumption. Qed.
Lemma row_outside : forall f i, (length f <= i)%nat -> row f i = [].
Proof. intros. apply nth_overflow. assumption. Qed.
Lemma length_map_seq : forall (A : Type) (f : nat -> A) m, length (map f (seq 0 m)) = m.
Proof. intros. rewrite map_length. apply seq_length. Qed.

(* a value, by entries inside *)
Lemma represents_intro : forall F f df, length f = length F -> length df = length F -> rectangular t F ->
  (forall i k, (i < length F)%nat -> (k < t)%nat ->
    fst (cell F i k) = row_value (row f i) k /\ snd (cell F i k) = row_value (row df i) k) -> represents F f df.
Proof.
  intros F f df L M R H. constructor; try assumption; intros i k Hk;
    (destruct (Nat.lt_ge_cases i (length F)); [apply H; assumption|
      rewrite cell_outside, row_outside by lia; reflexivity]).
Qed.

Lemma product_entry : forall W F f df i k, fits n W (rows_in W) (length f) = true -> represents F f df ->
  (i < rows_in W)%nat -> (k < t)%nat ->
  fst (cell (product t (block_matrix W point) F) i k) = row_value (product_row (variable W) f i) k /\
  snd (cell (product t (block_matrix W point) F) i k) = row_value (changed_row w W f df i) k.
Proof.
  intros W F f df i k HW [L M R E1 E2] Hi Hk. rewrite cell_product, fst_dsum, snd_dsum by assumption. unfold row_value, changed_row.
  rewrite form_add_value, !product_row_value, L, M. split.
  - apply sum_ext. intros j Hj. cbn [dmul fst].
    destruct (block_entry W (rows_in W) (length f) i j) as [B1 _]; try assumption; [lia|].
    rewrite B1, E1 by assumption. reflexivity.
  - rewrite <- sum_plus. apply sum_ext. intros j Hj. cbn [dmul snd].
    destruct (block_entry W (rows_in W) (length f) i j) as [B1 B2]; try assumption; [lia|].
    rewrite B1, B2, E1, E2 by assumption. unfold row_value. ring.
Qed.
Lemma product_represents : forall W F f df, fits n W (rows_in W) (length f) = true -> represents F f df ->
  represents (product t (block_matrix W point) F) (product_forms W f) (changed_product w W f df).
Proof.
  intros W F f df HW HF. unfold product_forms, changed_product.
  apply represents_intro; rewrite ?length_map_seq, ?length_product, ?length_block; try reflexivity.
  - apply rectangular_product.
  - intros i k Hi Hk. rewrite !row_map_seq by assumption. apply product_entry; assumption.
Qed.

Lemma bias_represents : forall b F f df, fits n b (length f) 1 = true -> represents F f df ->
  represents (add_bias (block_matrix b point) F)
    (map (fun i => form_add (row f i) (scale (variable b i 0) [(number 1, One)])) (seq 0 (length f)))
    (map (fun i => form_add (row df i) (scale (moved w b i 0) [(number 1, One)])) (seq 0 (length df))).
Proof.
  intros b F f df HW [L M R E1 E2].
  assert (LB : length (block_matrix b point) = length F).
  { rewrite length_block. unfold fits in HW. rewrite !Bool.andb_true_iff in HW. destruct HW as [[H _] _].
    apply Nat.eqb_eq in H. lia. }
  destruct (add_bias_ok t (block_matrix b point) F R) as [LA [RA C]]. rewrite LB, Nat.min_id in *.
  apply represents_intro; rewrite ?length_map_seq; try congruence.
  intros i k Hi Hk. rewrite LA in Hi. rewrite C, !row_map_seq by lia. unfold row_value.
  rewrite !form_add_value, !scale_value, !unit_value. cbn [symbol_value dadd fst snd].
  destruct (block_entry b (length f) 1 i 0) as [B1 B2]; try assumption; try lia.
  rewrite B1, B2, E1, E2 by assumption. unfold row_value. split; ring.
Qed.

Lemma sum_represents : forall others F f df, represents F f df ->
  (forall o, In o others -> represents (nth o values []) (nth o forms []) (nth o changes []) /\
    length (nth o forms []) = length f) ->
  represents (fold_left (fun F o => add_matrices F (nth o values [])) others F)
    (fold_left (fun f o => add_forms f (nth o forms [])) others f)
    (fold_left (fun f o => add_forms f (nth o changes [])) others df).
Proof.
  induction others as [|o others IH]; intros F f df HF HO; [assumption|]. cbn [fold_left].
  destruct (HO o) as [[L' M' R' E1' E2'] Lo]; [left; reflexivity|]. destruct HF as [L M R E1 E2].
  destruct (add_matrices_ok t F (nth o values [])) as [LA [RA C]]; try assumption.
  assert (N : length (nth o values []) = length F) by congruence. rewrite N, Nat.min_id in *.
  apply IH.
  - apply represents_intro; unfold add_forms; rewrite ?length_map_seq; try congruence.
    fold (add_forms f (nth o forms [])) (add_forms df (nth o changes [])). intros i k Hi Hk. unfold row_value.
    rewrite !add_forms_value, C by lia. cbn [dadd fst snd]. rewrite E1, E1', E2, E2' by assumption. split; reflexivity.
  - intros o' Ho. destruct (HO o') as [A B]; [right; assumption|]. split; [assumption|].
    unfold add_forms. rewrite length_map_seq. assumption.
Qed.

Lemma mixed_value : forall r e z i j k, nth (e - 1) net nowhere = Activation r z ->
  nth e values [] = activation r (nth z values []) -> rectangular t (nth z values []) ->
  (i < length (nth z values []))%nat -> (k < t)%nat ->
  Z.of_nat r * symbol_value (mixed r e i j) k =
  Z.of_nat r * (fst (power (cell (nth z values []) i k) (r - 1)) * fst (cell (nth z values []) j k)).
Proof.
  intros r e z i j k HN HE R Hi Hk. unfold mixed. destruct (Nat.eqb_spec i j) as [<-|Hij].
  - cbn [symbol_value]. rewrite HE. destruct (activation_ok t r _ R) as [_ [_ C]]. rewrite C by assumption.
    destruct r as [|r]; [reflexivity|]. rewrite power_last. replace (S r - 1)%nat with r by lia. reflexivity.
  - destruct (Nat.eqb_spec r 2) as [->|]; cbn [andb]; [destruct (Nat.ltb j i)|]; cbn [symbol_value]; rewrite HN; [|reflexivity..].
    change (2 - 1)%nat with 1%nat. rewrite !power_one. ring.
Qed.
Lemma activation_represents : forall r e z f df changed, represents (nth z values []) f df ->
  nth (e - 1) net nowhere = Activation r z -> nth e values [] = activation r (nth z values []) ->
  (forall i k, (i < length f)%nat -> (k < t)%nat -> row_value (changed i) k =
    Z.of_nat r * (fst (power (cell (nth z values []) i k) (r - 1)) * snd (cell (nth z values []) i k))) ->
  represents (activation r (nth z values [])) (map (fun i => [(number 1, Power e i)]) (seq 0 (length f)))
    (map changed (seq 0 (length df))).
Proof.
  intros r e z f df changed [L M R E1 E2] HN HE Hc. destruct (activation_ok t r _ R) as [LA [RA C]].
  apply represents_intro; rewrite ?length_map_seq; try congruence.
  intros i k Hi Hk. rewrite LA in Hi. rewrite !row_map_seq by lia. split.
  - unfold row_value. rewrite unit_value. cbn [symbol_value]. rewrite HE. reflexivity.
  - rewrite Hc, C by lia. apply power_eps.
Qed.
Lemma factors_change : forall r e z f df c i k, represents (nth z values []) f df ->
  nth (e - 1) net nowhere = Activation r z -> nth e values [] = activation r (nth z values []) ->
  form_equal (row df i) (scale (number (nth i c 0)) (row f i)) = true -> (i < length f)%nat -> (k < t)%nat ->
  row_value (scale (number (Z.of_nat r * nth i c 0)) [(number 1, Power e i)]) k =
  Z.of_nat r * (fst (power (cell (nth z values []) i k) (r - 1)) * snd (cell (nth z values []) i k)).
Proof.
  intros r e z f df c i k [L M R E1 E2] HN HE Hc Hi Hk.
  pose proof (mixed_value r e z i i k HN HE R ltac:(lia) Hk) as H. unfold mixed in H. rewrite Nat.eqb_refl in H.
  unfold row_value. rewrite scale_value, number_value, unit_value, E2 by assumption. unfold row_value.
  rewrite (form_equal_value _ _ _ _ Hc), scale_value, number_value. fold (row_value (row f i) k). rewrite <- E1 by assumption.
  transitivity (nth i c 0 * (Z.of_nat r * symbol_value (Power e i) k)); [ring|]. rewrite H. ring.
Qed.
Lemma mixes_change : forall r e z f df P i k, represents (nth z values []) f df ->
  nth (e - 1) net nowhere = Activation r z -> nth e values [] = activation r (nth z values []) ->
  form_equal (row df i) (product_row (entry_of P) f i) = true -> (i < length f)%nat -> (k < t)%nat ->
  row_value (scale (number (Z.of_nat r)) (form_sum (length df) (fun j => scale (entry_of P i j) [(number 1, mixed r e i j)]))) k =
  Z.of_nat r * (fst (power (cell (nth z values []) i k) (r - 1)) * snd (cell (nth z values []) i k)).
Proof.
  intros r e z f df P i k [L M R E1 E2] HN HE Hc Hi Hk.
  unfold row_value. rewrite scale_value, number_value, form_sum_value, E2 by assumption. unfold row_value.
  rewrite (form_equal_value _ _ _ _ Hc), product_row_value, L, M, <- !sum_scale. apply sum_ext. intros j Hj.
  rewrite scale_value, unit_value. fold (row_value (row f j) k). rewrite <- E1 by assumption.
  transitivity (value theta (entry_of P i j) * (Z.of_nat r * symbol_value (mixed r e i j) k)); [ring|].
  rewrite (mixed_value r e z i j k HN HE R) by (assumption || lia). ring.
Qed.
Lemma identity_activation : forall F f df, represents F f df -> represents (activation 1 F) f df.
Proof.
  intros F f df [L M R E1 E2]. destruct (activation_ok t 1 F R) as [LA [RA C]].
  apply represents_intro; try congruence. intros i k Hi Hk. rewrite LA in Hi. rewrite C, power_one by assumption.
  split; [apply E1|apply E2]; assumption.
Qed.

Lemma through_value : forall a f k, row_value (through a f) k = sum t (fun s => row_value f s * fst (score_of a s k)).
Proof.
  intros a f k. unfold row_value, form_value, through. induction f as [|[p x] f IH]; cbn [map total fst snd].
  - symmetry. apply sum_zero. reflexivity.
  - rewrite IH. cbn [symbol_value]. rewrite <- sum_scale, <- sum_plus. apply sum_ext. intros s Hs. ring.
Qed.

Lemma combination_value : forall M z a k, length z = a -> forall i,
  row_value (combination M z i) k = sum a (fun v => coefficient M i v * row_value (row z v) k).
Proof.
  intros M z a k Hz i. unfold row_value, combination. rewrite product_row_value, Hz. apply sum_ext. intros v Hv.
  rewrite number_value. reflexivity.
Qed.

(* the scores (K Z)^T (Q Z) of an attention layer are multiplied by 1 + g eps *)
Lemma score_change : forall Q K F f df b L B C H g,
  represents F f df -> fits n Q (rows_in Q) (length f) = true -> fits n K (rows_in Q) (length f) = true ->
  (b = true -> thin_matrix t F) -> scores_check b (rows_in Q) L B C H g = true ->
  below (rows_in Q) (fun u =>
    form_equal (changed_row w K f df u)
      (form_add (combination L (product_forms K f) u) (combination B (product_forms Q f) u)) &&
    form_equal (changed_row w Q f df u)
      (form_add (combination C (product_forms K f) u) (combination H (product_forms Q f) u)))%bool = true ->
  forall s k, (s < t)%nat -> (k < t)%nat ->
  snd (score t (block_matrix Q point) (block_matrix K point) F s k) =
  g * fst (score t (block_matrix Q point) (block_matrix K point) F s k).
Proof.
  intros Q K F f df b L B C H g HF HQ HK Hthin Hs Hc s k Ls Lk.
  assert (KR : rows_in K = rows_in Q).
  { unfold fits in HK. rewrite !Bool.andb_true_iff in HK. destruct HK as [[E _] _]. apply Nat.eqb_eq. assumption. }
  set (a := rows_in Q) in *.
  set (S := score t (block_matrix Q point) (block_matrix K point) F).
  set (KF := product t (block_matrix K point) F). set (QF := product t (block_matrix Q point) F).
  assert (S0 : forall x y, fst (S x y) = sum a (fun u => fst (cell KF u x) * fst (cell QF u y))).
  { intros x y. unfold S, score. rewrite length_block, fst_dsum. reflexivity. }
  assert (S1 : forall x y, snd (S x y) =
    sum a (fun u => fst (cell KF u x) * snd (cell QF u y) + snd (cell KF u x) * fst (cell QF u y))).
  { intros x y. unfold S, score. rewrite length_block, snd_dsum. reflexivity. }
  pose proof (below_true _ _ Hs) as Hs'.
  rewrite S0, S1.
  apply (scores_scaled a (fun u x => fst (cell KF u x)) (fun u x => snd (cell KF u x)) (fun u x => fst (cell QF u x))
    (fun u x => snd (cell QF u x)) (coefficient L) (coefficient B) (coefficient C) (coefficient H)).
  - intros u v Hu Hv. pose proof (below_true _ _ (Hs' u Hu) v Hv) as E. cbv beta in E.
    rewrite Bool.andb_true_iff in E. destruct E as [E _]. apply Z.eqb_eq in E. exact E.
  - intros u x Hu Hx. assert (Lx : (x < t)%nat) by (destruct Hx; subst; assumption).
    pose proof (below_true _ _ Hc u Hu) as E. cbv beta in E. rewrite Bool.andb_true_iff in E. destruct E as [EK EQ].
    rewrite <- KR in HK.
    destruct (product_entry K F f df u x HK HF ltac:(lia) Lx) as [_ K1].
    destruct (product_entry Q F f df u x HQ HF Hu Lx) as [_ Q1].
    fold KF in K1. fold QF in Q1. rewrite K1, Q1. unfold row_value.
    rewrite (form_equal_value _ _ _ _ EK), (form_equal_value _ _ _ _ EQ), !form_add_value.
    fold (row_value (combination L (product_forms K f) u) x) (row_value (combination B (product_forms Q f) u) x)
      (row_value (combination C (product_forms K f) u) x) (row_value (combination H (product_forms Q f) u) x).
    rewrite !(combination_value _ (product_forms K f) a), !(combination_value _ (product_forms Q f) a)
      by (unfold product_forms; rewrite length_map_seq; first [assumption|reflexivity]).
    split; f_equal; apply sum_ext; intros v Hv; f_equal; symmetry;
      unfold product_forms; rewrite row_map_seq by lia;
      first [apply (product_entry K F f df v x HK HF); [lia|assumption]|apply (product_entry Q F f df v x HQ HF); assumption].
  - assert (E : forall u v, (u < a)%nat -> (v < a)%nat ->
      (if b then coefficient B u v + coefficient B v u =? 0 else coefficient B u v =? 0) = true /\
      (if b then coefficient C u v + coefficient C v u =? 0 else coefficient C u v =? 0) = true).
    { intros u v Hu Hv. pose proof (below_true _ _ (Hs' u Hu) v Hv) as E. cbv beta in E.
      rewrite Bool.andb_true_iff in E. destruct E as [_ E]. destruct b; rewrite Bool.andb_true_iff in E; exact E. }
    destruct b; [right|left].
    + split; [intros u v Hu Hv; destruct (E u v Hu Hv); split; apply Z.eqb_eq; assumption|].
      rewrite <- !S0, <- !S1. unfold S. rewrite (score_symmetric t _ _ F (Hthin eq_refl) s k) by assumption. split; reflexivity.
    + intros u v Hu Hv; destruct (E u v Hu Hv); split; apply Z.eqb_eq; assumption.
Qed.

Lemma attention_represents : forall Q K V F f df a g,
  represents F f df -> fits n V (rows_in V) (length f) = true ->
  (forall s k, score_of a s k = score t (block_matrix Q point) (block_matrix K point) F s k) ->
  (forall s k, (s < t)%nat -> (k < t)%nat -> snd (score_of a s k) = g * fst (score_of a s k)) ->
  represents (attention t (block_matrix Q point) (block_matrix K point) (block_matrix V point) F)
    (map (through a) (product_forms V f))
    (map (fun i => form_add (through a (row (changed_product w V f df) i))
      (scale (number g) (row (map (through a) (product_forms V f)) i))) (seq 0 (rows_in V))).
Proof.
  intros Q K V F f df a g HF HV HS Hg. pose proof (product_represents V F f df HV HF) as [L M R E1 E2].
  apply represents_intro; rewrite ?map_length, ?seq_length, ?length_attention, ?length_block, ?L, ?length_product, ?length_block;
    try reflexivity.
  - apply rectangular_product.
  - intros i k Hi Hk. rewrite cell_attention by assumption. rewrite row_map_seq by assumption.
    assert (E : row (map (through a) (product_forms V f)) i = through a (row (product_forms V f) i)).
    { apply nth_map_or. rewrite L, length_product, length_block. assumption. }
    rewrite E, fst_dsum, snd_dsum. unfold row_value at 2. rewrite form_add_value, scale_value, number_value.
    fold (row_value (through a (row (product_forms V f) i)) k) (row_value (through a (row (changed_product w V f df) i)) k).
    rewrite !through_value. split.
    + apply sum_ext. intros s Hs. cbn [dmul fst]. rewrite E1, HS by assumption. reflexivity.
    + rewrite <- sum_scale, <- sum_plus. apply sum_ext. intros s Hs. cbn [dmul snd].
      rewrite <- HS, Hg, E1, E2 by assumption. ring.
Qed.

(* -- all values -- *)

Variable witnesses : list witness.
Let item (i : nat) := (nth i net nowhere, nth i witnesses Plain).
Hypothesis value_of : forall i, (i < length net)%nat ->
  nth (S i) values [] = node_value t point (S i) values (nth i net nowhere).
Hypothesis forms_of : forall i, (i < length net)%nat ->
  nth (S i) forms [] = node_forms (S i) forms (nth i net nowhere).
Hypothesis changes_of : forall i, (i < length net)%nat ->
  nth (S i) changes [] = node_change w forms (S i) changes (item i).
Hypothesis thin_of : forall i, (i < length net)%nat ->
  nth (S i) thin false = node_thin t forms (S i) thin (nth i net nowhere).
Hypothesis all_fit : forall i, (i < length net)%nat -> node_fits n forms (S i) (nth i net nowhere) = true.
Hypothesis all_checked : forall i, (i < length net)%nat -> change_check w forms thin changes (item i) = true.

Definition known (j : nat) : Prop :=
  represents (nth j values []) (nth j forms []) (nth j changes []) /\
  (nth j thin false = true -> thin_matrix t (nth j values [])).
Hypothesis input_known : known 0.

Lemma reads_before : forall i, (i < length net)%nat -> forall z, In z (reads (nth i net nowhere)) -> (z < S i)%nat.
Proof.
  intros i Hi z Hz. pose proof (all_fit i Hi) as H. unfold node_fits in H. rewrite Bool.andb_true_iff in H.
  destruct H as [H _]. rewrite forallb_forall in H. apply Nat.ltb_lt, H. assumption.
Qed.

Lemma next_represents : forall i, (i < length net)%nat -> (forall z, (z < S i)%nat -> known z) ->
  represents (nth (S i) values []) (nth (S i) forms []) (nth (S i) changes []).
Proof.
  intros i Hi IH. pose proof (reads_before i Hi) as Hr. pose proof (all_fit i Hi) as Hf.
  pose proof (all_checked i Hi) as Hc. pose proof (value_of i Hi) as EV. pose proof (forms_of i Hi) as EF.
  pose proof (changes_of i Hi) as EC.
  assert (SC : forall s k, score_of (S i) s k = match nth i net nowhere with
    | Attention Q K _ z => score t (block_matrix Q point) (block_matrix K point) (nth z values []) s k
    | _ => dzero end).
  { intros s k. unfold score_of. replace (S i - 1)%nat with i by lia. reflexivity. }
  unfold item in *. unfold node_fits in Hf. rewrite Bool.andb_true_iff in Hf. destruct Hf as [_ Hf].
  destruct (nth i net nowhere) as [Q K V z|W z|b z|r z|z others] eqn:EN; cbn [reads] in Hr;
    destruct (IH z (Hr z (or_introl eq_refl))) as [Hz Tz].
  - rewrite !Bool.andb_true_iff in Hf. destruct Hf as [[HQ HK] HV].
    destruct (nth i witnesses Plain) as [|c|P|L B C H g]; try discriminate.
    cbn [change_check] in Hc. rewrite Bool.andb_true_iff in Hc. destruct Hc as [Hs Hb].
    unfold node_change in EC. cbn [fst snd] in EC. rewrite EC, EV, EF. cbn [node_value node_forms].
    apply attention_represents; try assumption.
    intros s k Ls Lk. rewrite !SC.
    exact (score_change Q K _ _ _ _ L B C H g Hz HQ HK Tz Hs Hb s k Ls Lk).
  - rewrite EV, EF, EC. apply product_represents; assumption.
  - rewrite EV, EF, EC. apply bias_represents; assumption.
  - rewrite EV, EF, EC. unfold node_change. cbn [node_value node_forms fst snd].
    destruct (Nat.eqb_spec r 1) as [->|Hr1]; [apply identity_activation; assumption|].
    assert (NE : nth (S i - 1) net nowhere = Activation r z) by (replace (S i - 1)%nat with i by lia; exact EN).
    destruct (nth i witnesses Plain) as [|c|P|L B C H g]; cbn [change_check] in Hc;
      rewrite (proj2 (Nat.eqb_neq r 1) Hr1) in Hc; try discriminate; cbn [orb] in Hc;
      (apply activation_represents; [assumption|exact NE|exact EV|]); intros x k Hx Hk.
    + apply factors_change with (f := nth z forms []) (df := nth z changes []); try assumption.
      exact (below_true _ _ Hc x Hx).
    + apply mixes_change with (f := nth z forms []) (df := nth z changes []); try assumption.
      exact (below_true _ _ Hc x Hx).
  - rewrite EV, EF, EC. unfold node_change. cbn [node_value node_forms fst snd].
    apply sum_represents; [assumption|]. intros o Ho. split; [apply IH, Hr; right; assumption|].
    rewrite forallb_forall in Hf. apply Nat.eqb_eq, Hf. assumption.
Qed.

Lemma next_thin : forall i, (i < length net)%nat -> (forall z, (z < S i)%nat -> known z) ->
  nth (S i) thin false = true -> thin_matrix t (nth (S i) values []).
Proof.
  intros i Hi IH HT. pose proof (next_represents i Hi IH) as HR. pose proof (reads_before i Hi) as Hr.
  rewrite thin_of in HT by assumption. unfold node_thin in HT. rewrite !Bool.orb_true_iff in HT.
  destruct HT as [[HT|HT]|HT].
  - apply thin_token, Nat.eqb_eq. assumption.
  - apply thin_row. rewrite <- (form_count _ _ _ HR). apply Nat.eqb_eq. assumption.
  - rewrite value_of by assumption.
    destruct (nth i net nowhere) as [Q K V z|W z|b z|r z|z others]; cbn [reads] in Hr; try discriminate;
      destruct (IH z (Hr z (or_introl eq_refl))) as [Hz Tz]; cbn [node_value].
    + rewrite Bool.orb_true_iff in HT. destruct HT as [HT|HT].
      * apply thin_rank_one. rewrite length_block. apply Nat.eqb_eq. assumption.
      * apply thin_attention, Tz. assumption.
    + apply thin_product, Tz. assumption.
    + apply thin_activation; [exact (is_rectangular _ _ _ Hz)|apply Tz; assumption].
Qed.

Lemma all_known : forall j, (j <= length net)%nat -> known j.
Proof.
  intros j. induction j as [j IH] using lt_wf_ind. intros Hj. destruct j as [|i]; [exact input_known|].
  assert (H : forall z, (z < S i)%nat -> known z) by (intros; apply IH; lia).
  split; [apply next_represents|apply next_thin]; assumption || lia.
Qed.
End Soundness.

(* ---- Checked fields leave the network unchanged ---- *)

Lemma map_repeat : forall (A : Type) (c : A) x, (forall a, In a x -> a = c) -> x = repeat c (length x).
Proof.
  induction x as [|a x IH]; intros H; [reflexivity|]. cbn. f_equal; [apply H; left; reflexivity|].
  apply IH. intros b Hb. apply H. right. assumption.
Qed.
Lemma eps_zero : forall t F, rectangular t F ->
  (forall i k, (k < t)%nat -> snd (cell F i k) = 0) -> map (map snd) F = zero_matrix (length F) t.
Proof.
  intros t. induction F as [|x F IH]; intros R H; [reflexivity|]. inversion_clear R as [|? ? Hx HF].
  change (map snd x :: map (map snd) F = repeat 0 t :: zero_matrix (length F) t). f_equal.
  - assert (T : length (map snd x) = t) by (rewrite map_length; exact Hx). rewrite <- T at 1. apply map_repeat.
    intros a Ha. apply (In_nth _ _ 0) in Ha. destruct Ha as [k [Hk E]]. rewrite T in Hk.
    rewrite nth_map_or with (e := dzero) in E by (rewrite <- Hx in Hk; exact Hk). rewrite <- E. apply (H O k). assumption.
  - apply IH; [assumption|]. intros i k Hk. apply (H (S i) k Hk).
Qed.

Lemma constant_ok : forall rows columns X, is_matrix rows columns X ->
  length (constant X) = rows /\ rectangular columns (constant X) /\ forall i k, snd (cell (constant X) i k) = 0.
Proof.
  intros rows columns X [L R]. unfold constant. repeat split.
  - rewrite map_length. assumption.
  - unfold rectangular. apply Forall_map. revert R. apply Forall_impl. intros x Hx. rewrite map_length. assumption.
  - intros i k. unfold cell. destruct (Nat.lt_ge_cases i (length X)).
    + rewrite nth_map_or with (e := []) by assumption.
      destruct (Nat.lt_ge_cases k (length (nth i X []))).
      * rewrite nth_map_or with (e := 0) by assumption. reflexivity.
      * rewrite nth_overflow by (rewrite map_length; assumption). reflexivity.
    + rewrite (nth_overflow (map _ X)) by (rewrite map_length; assumption). destruct k; reflexivity.
Qed.

Lemma row_empty : forall (f : list form) i, row (map (fun _ => []) f) i = [].
Proof. induction f as [|x f IH]; intros [|i]; try reflexivity. apply IH. Qed.

Section Checked.
Variables (n width height t : nat) (net : list node) (output : nat) (checked : list (field * list witness)).
Hypothesis all_checked : check_fields n width height t net output checked = true.
Let forms : list (list form) := all_forms width net.
Let thin : list bool := all_thin t width net forms.

Lemma what_is_checked : (output <= length net)%nat /\ length (nth output forms []) = height /\
  (forall i, (i < length net)%nat -> node_fits n forms (S i) (nth i net nowhere) = true) /\
  forall w, In w (map fst checked) -> exists wits, check_field net output forms thin (w, wits) = true.
Proof.
  pose proof all_checked as H. unfold check_fields in H. fold forms in H. fold thin in H.
  rewrite !Bool.andb_true_iff in H. destruct H as [[[O E] F] C]. repeat split.
  - apply Nat.leb_le. assumption.
  - apply Nat.eqb_eq. assumption.
  - apply below_true. assumption.
  - intros w Hw. apply in_map_iff in Hw. destruct Hw as [[w' wits] [Hw Hin]]. cbn in Hw. subst w'.
    exists wits. rewrite forallb_forall in C. apply C. assumption.
Qed.

(* At all parameters theta and all inputs X the network at theta + eps w(theta) has eps-part 0. *)
Theorem checked_fields_are_symmetries : forall w theta X, In w (map fst checked) -> length theta = n ->
  is_matrix width t X ->
  map (map snd) (run t net output (along theta (field_at n w theta)) (constant X)) = zero_matrix height t.
Proof.
  intros w theta X Hw Htheta HX. destruct what_is_checked as [Ho [Hh [Hf Hc]]].
  destruct (Hc w Hw) as [wits H]. unfold check_field in H. cbv zeta in H. rewrite !Bool.andb_true_iff in H.
  set (items := combine net wits) in H.
  set (changes := collect (node_change w forms) [map (fun _ => []) (nth 0 forms [])] items) in H.
  destruct H as [[HL HC] HZ]. apply Nat.eqb_eq in HL.
  set (point := along theta (field_at n w theta)).
  set (values := collect (node_value t point) [constant X] net).
  assert (Hr : forall i, (i < length net)%nat -> forall z, In z (reads (nth i net nowhere)) -> (z < S i)%nat).
  { exact (reads_before n net forms Hf). }
  assert (Hitems : length items = length net) by (unfold items; rewrite combine_length; lia).
  assert (Hitem : forall i, nth i items (nowhere, Plain) = (nth i net nowhere, nth i wits Plain)).
  { intros i. unfold items. apply combine_nth. congruence. }
  assert (F0 : nth 0 forms [] = map (fun i => [(number 1, Input i)]) (seq 0 width)) by apply collect_start.
  assert (C0 : nth 0 changes [] = map (fun _ => []) (nth 0 forms [])) by apply collect_start.
  assert (K : known n t net theta w values forms changes thin output).
  { apply (all_known n t net theta w Htheta values forms changes thin wits); try assumption.
    - intros i Hi. exact (collect_value _ _ [] nowhere (node_value t point) reads (node_value_local t point) net _ Hr i Hi).
    - intros i Hi. exact (collect_value _ _ [] nowhere node_forms reads node_forms_local net _ Hr i Hi).
    - intros i Hi. rewrite <- Hitem.
      apply (collect_value _ _ [] (nowhere, Plain) (node_change w forms) (fun item => reads (fst item))
        (node_change_local w forms) items); [|lia].
      intros j Hj z Hz. rewrite Hitem in Hz. apply (Hr j); [lia|assumption].
    - intros i Hi. exact (collect_value _ _ false nowhere (node_thin t forms) reads (node_thin_local t forms) net _ Hr i Hi).
    - intros i Hi. rewrite forallb_forall in HC. rewrite <- Hitem. apply HC, nth_In. lia.
    - destruct (constant_ok width t X HX) as [XL [XR XE]].
      assert (V0 : nth 0 values [] = constant X) by apply collect_start.
      split.
      + rewrite C0, F0, V0. apply represents_intro; rewrite ?map_length, ?seq_length; try congruence.
        intros i k Hi Hk. rewrite row_map_seq by lia. rewrite XE. unfold row_value. split.
        * rewrite unit_value. cbn [symbol_value]. rewrite V0. reflexivity.
        * rewrite row_empty. reflexivity.
      + intros T. rewrite V0. assert (T0 : nth 0 thin false = (Nat.eqb t 1 || Nat.eqb width 1)%bool) by apply collect_start.
        rewrite T0, Bool.orb_true_iff in T. destruct T as [T|T]; apply Nat.eqb_eq in T.
        * apply thin_token. assumption.
        * apply thin_row. lia. }
  destruct K as [[L M R E1 E2] _]. unfold run. fold values. rewrite eps_zero with (t := t).
  - rewrite <- L, Hh. reflexivity.
  - exact R.
  - intros i k Hk. rewrite E2 by assumption. unfold row_value. apply form_is_zero_value.
    destruct (Nat.lt_ge_cases i (length (nth output changes []))) as [Hi|Hi].
    + rewrite forallb_forall in HZ. apply HZ, nth_In. assumption.
    + rewrite row_outside by assumption. reflexivity.
Qed.
End Checked.
