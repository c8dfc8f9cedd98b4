(* ---- Dual numbers: a commutative ring, and their sums ---- *)

Definition dopp (x : dual) : dual := (- fst x, - snd x).
Definition dsub (x y : dual) : dual := dadd x (dopp y).
Definition done : dual := (1, 0).
Ltac dual_ring := intros; repeat match goal with x : dual |- _ => destruct x end;
  unfold dsub, dadd, dmul, dopp, done, dzero; cbn [fst snd]; f_equal; ring.
Lemma dual_ring_theory : ring_theory dzero done dadd dmul dsub dopp eq.
Proof. constructor; try dual_ring. Qed.
Add Ring dual_numbers : dual_ring_theory.

Fixpoint dsum (n : nat) (f : nat -> dual) : dual :=
  match n with O => dzero | S m => dadd (dsum m f) (f m) end.
Lemma dsum_ext : forall n f g, (forall i, (i < n)%nat -> f i = g i) -> dsum n f = dsum n g.
Proof.
  induction n; intros f g H; cbn [dsum]; [reflexivity|].
  rewrite (IHn f g) by (intros; apply H; lia). rewrite (H n) by lia. reflexivity.
Qed.
Lemma dsum_scale : forall n a f, dsum n (fun i => dmul a (f i)) = dmul a (dsum n f).
Proof. induction n; intros a f; cbn [dsum]; [ring|rewrite IHn; ring]. Qed.
Lemma dsum_plus : forall n f g, dsum n (fun i => dadd (f i) (g i)) = dadd (dsum n f) (dsum n g).
Proof. induction n; intros f g; cbn [dsum]; [ring|rewrite IHn; ring]. Qed.
Lemma dsum_zero : forall n f, (forall i, (i < n)%nat -> f i = dzero) -> dsum n f = dzero.
Proof. induction n; intros f H; cbn [dsum]; [reflexivity|]. rewrite IHn, H by (intros; try apply H; lia). ring. Qed.
Lemma dsum_swap : forall n m f,
  dsum n (fun i => dsum m (fun k => f i k)) = dsum m (fun k => dsum n (fun i => f i k)).
Proof.
  induction n; intros m f; cbn [dsum]; [symmetry; apply dsum_zero; reflexivity|].
  rewrite IHn, <- dsum_plus. reflexivity.
Qed.
Lemma dsum_first : forall n f, dsum (S n) f = dadd (f O) (dsum n (fun i => f (S i))).
Proof. induction n; intros f; [cbn; ring|]. cbn [dsum] in *. rewrite IHn. ring. Qed.
Lemma fst_dsum : forall n f, fst (dsum n f) = sum n (fun i => fst (f i)).
Proof. induction n; intros f; cbn; [reflexivity|]. rewrite IHn. reflexivity. Qed.
Lemma snd_dsum : forall n f, snd (dsum n f) = sum n (fun i => snd (f i)).
Proof. induction n; intros f; cbn; [reflexivity|]. rewrite IHn. reflexivity. Qed.

(* ---- Entries of the values of layers ---- *)

Definition cell (F : matrix) (i k : nat) : dual := nth k (nth i F []) dzero.

Lemma nth_map_or : forall (A B : Type) (f : A -> B) x i d e, (i < length x)%nat -> nth i (map f x) d = f (nth i x e).
Proof.
  intros A B f x i d e H. rewrite (nth_indep _ d (f e)) by (rewrite map_length; assumption). apply map_nth.
Qed.

Lemma cell_outside : forall F i k, (length F <= i)%nat -> cell F i k = dzero.
Proof. intros. unfold cell. rewrite (nth_overflow F) by assumption. destruct k; reflexivity. Qed.

Lemma dot_dsum : forall x y n, (length y <= n)%nat -> dot x y = dsum n (fun j => dmul (nth j x dzero) (nth j y dzero)).
Proof.
  induction x as [|a x IH]; intros y n H.
  - symmetry. cbn. apply dsum_zero. intros [|i] _; dual_ring.
  - destruct y as [|b y].
    + symmetry. cbn [dot]. apply dsum_zero. intros [|i] _; cbn [nth]; ring.
    + destruct n as [|n]; [cbn in H; lia|]. rewrite dsum_first. cbn [dot nth]. rewrite (IH y n) by (cbn in H; lia).
      reflexivity.
Qed.

Lemma cell_transpose : forall t A i k, (i < t)%nat -> cell (transpose t A) i k = cell A k i.
Proof.
  intros. unfold cell, transpose. rewrite nth_map_seq by assumption. unfold column.
  destruct (Nat.lt_ge_cases k (length A)).
  - rewrite nth_map_or with (e := []) by assumption. reflexivity.
  - rewrite nth_overflow by (rewrite map_length; assumption). rewrite (nth_overflow A) by assumption.
    destruct i; reflexivity.
Qed.

Lemma cell_product : forall t A B i k, (k < t)%nat ->
  cell (product t A B) i k = dsum (length B) (fun j => dmul (cell A i j) (cell B j k)).
Proof.
  intros t A B i k Hk. destruct (Nat.lt_ge_cases i (length A)) as [L|L].
  - unfold cell at 1. unfold product. rewrite nth_map_or with (e := []) by assumption.
    unfold transpose. rewrite nth_map_or with (e := []) by (rewrite map_length, seq_length; assumption).
    rewrite nth_map_seq by assumption. rewrite (dot_dsum _ _ (length B)) by (unfold column; rewrite map_length; lia).
    apply dsum_ext. intros j Hj. unfold column. rewrite nth_map_or with (e := []) by assumption. reflexivity.
  - rewrite cell_outside by (unfold product; rewrite map_length; assumption). symmetry. apply dsum_zero.
    intros j _. rewrite cell_outside by assumption. ring.
Qed.

Lemma length_product : forall t A B, length (product t A B) = length A.
Proof. intros. unfold product. apply map_length. Qed.

Lemma nth_firstn_below : forall (A : Type) (x : list A) n i d, (i < n)%nat -> nth i (firstn n x) d = nth i x d.
Proof.
  induction x as [|a x IH]; intros [|n] [|i] d H; try lia; cbn; try reflexivity. apply IH. lia.
Qed.
Lemma nth_skipn : forall (A : Type) n (x : list A) i d, nth i (skipn n x) d = nth (n + i) x d.
Proof. induction n; intros [|a x] i d; cbn; try reflexivity. - destruct i; reflexivity. - apply IHn. Qed.

Lemma length_rows_of : forall count columns x, length (rows_of count columns x) = count.
Proof. induction count; intros; cbn; [reflexivity|]. rewrite IHcount. reflexivity. Qed.
Lemma cell_rows_of : forall columns j count i x, (i < count)%nat -> (j < columns)%nat ->
  cell (rows_of count columns x) i j = nth (i * columns + j) x dzero.
Proof.
  intros columns j. induction count; intros i x Hi Hj; [lia|]. destruct i as [|i].
  - unfold cell. cbn [rows_of nth]. rewrite nth_firstn_below by assumption. reflexivity.
  - transitivity (cell (rows_of count columns (skipn columns x)) i j); [reflexivity|].
    rewrite IHcount, nth_skipn by lia. f_equal. lia.
Qed.

Lemma length_block : forall W theta, length (block_matrix W theta) = rows_in W.
Proof. intros [f r c] theta. apply length_rows_of. Qed.
Lemma cell_block : forall W theta i j, (i < rows_in W)%nat -> (j < columns_in W)%nat ->
  cell (block_matrix W theta) i j = nth (place W i j) theta dzero.
Proof.
  intros [f r c] theta i j Hi Hj. cbn [block_matrix rows_in columns_in] in *. unfold parameter_matrix. rewrite cell_rows_of, nth_skipn by assumption.
  unfold place. cbn. f_equal. lia.
Qed.

Definition rectangular (t : nat) (F : matrix) : Prop := Forall (fun x => length x = t) F.

Lemma rectangular_product : forall t A B, rectangular t (product t A B).
Proof.
  intros. unfold rectangular, product. apply Forall_forall. intros x Hx. apply in_map_iff in Hx.
  destruct Hx as [y [Hy _]]. subst. unfold transpose. rewrite !map_length. apply seq_length.
Qed.

Lemma length_attention : forall t Q K V X, length (attention t Q K V X) = length V.
Proof. intros. unfold attention. apply length_product. Qed.

(* entry (s, k) of (K X)^T (Q X) *)
Definition score (t : nat) (Q K X : matrix) (s k : nat) : dual :=
  dsum (length Q) (fun u => dmul (cell (product t K X) u s) (cell (product t Q X) u k)).

Lemma cell_attention : forall t Q K V X i k, (k < t)%nat ->
  cell (attention t Q K V X) i k = dsum t (fun s => dmul (cell (product t V X) i s) (score t Q K X s k)).
Proof.
  intros t Q K V X i k Hk. unfold attention.
  rewrite cell_product, length_product by assumption.
  rewrite (dsum_ext _ _ (fun j => dsum t (fun s => dmul (cell V i j) (dmul (cell X j s) (score t Q K X s k))))).
  2: { intros j Hj. rewrite dsum_scale, cell_product by assumption. f_equal.
       rewrite length_product. unfold transpose at 1. rewrite map_length, seq_length.
       apply dsum_ext. intros s Hs. f_equal. rewrite cell_product, length_product by assumption.
       unfold score. apply dsum_ext. intros u Hu. rewrite cell_transpose by assumption. reflexivity. }
  rewrite dsum_swap. apply dsum_ext. intros s Hs. rewrite cell_product by assumption.
  rewrite (dsum_ext _ _ (fun j => dmul (score t Q K X s k) (dmul (cell V i j) (cell X j s)))) by (intros; ring).
  rewrite dsum_scale. ring.
Qed.

Lemma cell_cons : forall x F i k, cell (x :: F) i k = match i with O => nth k x dzero | S j => cell F j k end.
Proof. intros x F [|i] k; reflexivity. Qed.

Lemma length_add_rows : forall x y, length y = length x -> length (add_rows x y) = length x.
Proof. induction x as [|a x IH]; intros [|b y] H; cbn in *; try lia. rewrite IH; lia. Qed.
Lemma nth_add_rows : forall x y k, length y = length x ->
  nth k (add_rows x y) dzero = dadd (nth k x dzero) (nth k y dzero).
Proof.
  induction x as [|a x IH]; intros [|b y] k H; cbn in H; try lia; [destruct k; reflexivity|].
  destruct k as [|k]; cbn [add_rows nth]; [reflexivity|]. apply IH. lia.
Qed.
Lemma add_matrices_ok : forall t A B, rectangular t A -> rectangular t B ->
  length (add_matrices A B) = Nat.min (length A) (length B) /\ rectangular t (add_matrices A B) /\
  forall i k, (i < Nat.min (length A) (length B))%nat -> cell (add_matrices A B) i k = dadd (cell A i k) (cell B i k).
Proof.
  intros t. induction A as [|x A IH]; intros [|y B] HA HB; try (repeat split; [constructor|intros i k Hi; cbn in Hi; lia]).
  inversion_clear HA. inversion_clear HB. destruct (IH B) as [E [R C]]; try assumption.
  cbn [add_matrices]. change (length (x :: A)) with (S (length A)). change (length (y :: B)) with (S (length B)).
  rewrite <- Nat.succ_min_distr. repeat split.
  - cbn [length]. rewrite E. reflexivity.
  - constructor; [rewrite length_add_rows; lia|assumption].
  - intros i k Hi. rewrite !cell_cons. destruct i; [apply nth_add_rows; lia|apply C; lia].
Qed.

Lemma add_bias_ok : forall t b X, rectangular t X ->
  length (add_bias b X) = Nat.min (length b) (length X) /\ rectangular t (add_bias b X) /\
  forall i k, (i < Nat.min (length b) (length X))%nat -> (k < t)%nat ->
  cell (add_bias b X) i k = dadd (cell b i 0) (cell X i k).
Proof.
  intros t. induction b as [|y b IH]; intros [|x X] HX; try (repeat split; [constructor|intros i k Hi; cbn in Hi; lia]).
  inversion_clear HX. destruct (IH X) as [E [R C]]; [assumption|].
  change (add_bias (y :: b) (x :: X)) with (map (dadd (nth 0 y dzero)) x :: add_bias b X).
  change (length (y :: b)) with (S (length b)). change (length (x :: X)) with (S (length X)).
  rewrite <- Nat.succ_min_distr. repeat split.
  - cbn [length]. rewrite E. reflexivity.
  - constructor; [rewrite map_length; lia|assumption].
  - intros i k Hi Hk. rewrite !cell_cons. destruct i as [|i].
    + rewrite nth_map_or with (e := dzero) by lia. reflexivity.
    + apply C; [lia|assumption].
Qed.

Lemma activation_ok : forall t r X, rectangular t X ->
  length (activation r X) = length X /\ rectangular t (activation r X) /\
  forall i k, (i < length X)%nat -> (k < t)%nat -> cell (activation r X) i k = power (cell X i k) r.
Proof.
  intros t r. induction X as [|x X IH]; intros HX.
  - repeat split; [constructor|]. intros i k Hi. cbn in Hi. lia.
  - inversion_clear HX. destruct IH as [E [R C]]; [assumption|].
    change (activation r (x :: X)) with (map (fun y => power y r) x :: activation r X).
    repeat split; [cbn [length]; rewrite E; reflexivity|constructor; [rewrite map_length; lia|assumption]|].
    intros i k Hi Hk. rewrite !cell_cons. destruct i as [|i].
    + rewrite nth_map_or with (e := dzero) by lia. reflexivity.
    + apply C; [cbn in Hi; lia|assumption].
Qed.

Lemma power_product : forall x y r, power (dmul x y) r = dmul (power x r) (power y r).
Proof. induction r; cbn [power]; [dual_ring|]. rewrite IHr. ring. Qed.
Lemma power_one : forall x, power x 1 = x.
Proof. intros [a b]. unfold power, dmul. cbn [fst snd]. f_equal; ring. Qed.
Lemma power_last : forall x r, power x (S r) = dmul (power x r) x.
Proof. intros. cbn [power]. ring. Qed.
Lemma power_eps : forall x r, snd (power x r) = Z.of_nat r * (fst (power x (r - 1)) * snd x).
Proof.
  intros x [|r]; [reflexivity|]. replace (S r - 1)%nat with r by lia. induction r as [|r IH].
  - rewrite power_one. cbn [power fst]. change (Z.of_nat 1) with 1. ring.
  - rewrite power_last. cbn [dmul snd]. rewrite IH.
    assert (F : fst (power x (S r)) = fst (power x r) * fst x) by (rewrite power_last; reflexivity).
    rewrite F, (Nat2Z.inj_succ (S r)). ring.
Qed.

(* ---- Thin values: a column times a row ---- *)

Section Thin.
Variable t : nat.
Definition thin_matrix (F : matrix) : Prop :=
  exists u v : nat -> dual, forall i k, (i < length F)%nat -> (k < t)%nat -> cell F i k = dmul (u i) (v k).

Lemma thin_token : t = 1%nat -> forall F, thin_matrix F.
Proof. intros E F. exists (fun i => cell F i 0), (fun _ => done). intros i k _ Hk. replace k with O by lia. ring. Qed.
Lemma thin_row : forall F, length F = 1%nat -> thin_matrix F.
Proof. intros F E. exists (fun _ => done), (fun k => cell F 0 k). intros i k Hi _. replace i with O by lia. ring. Qed.

Lemma thin_products : forall F, thin_matrix F ->
  exists v, forall W, exists u, forall i k, (k < t)%nat -> cell (product t W F) i k = dmul (u i) (v k).
Proof.
  intros F [u [v H]]. exists v. intros W. exists (fun i => dsum (length F) (fun j => dmul (cell W i j) (u j))).
  intros i k Hk. rewrite cell_product by assumption.
  rewrite (dsum_ext _ _ (fun j => dmul (v k) (dmul (cell W i j) (u j)))).
  - rewrite dsum_scale. ring.
  - intros j Hj. rewrite H by assumption. ring.
Qed.
Lemma thin_product : forall W F, thin_matrix F -> thin_matrix (product t W F).
Proof.
  intros W F H. destruct (thin_products F H) as [v Hv]. destruct (Hv W) as [u Hu].
  exists u, v. intros. apply Hu. assumption.
Qed.

Lemma thin_score : forall Q K F, thin_matrix F ->
  exists v c, forall s k, (s < t)%nat -> (k < t)%nat -> score t Q K F s k = dmul (dmul c (v s)) (v k).
Proof.
  intros Q K F H. destruct (thin_products F H) as [v Hv].
  destruct (Hv Q) as [q Hq]. destruct (Hv K) as [c Hc].
  exists v, (dsum (length Q) (fun u => dmul (c u) (q u))). intros s k Hs Hk. unfold score.
  rewrite (dsum_ext _ _ (fun u => dmul (dmul (v s) (v k)) (dmul (c u) (q u)))).
  - rewrite dsum_scale. ring.
  - intros u _. rewrite Hq, Hc by assumption. ring.
Qed.
Lemma score_symmetric : forall Q K F, thin_matrix F ->
  forall s k, (s < t)%nat -> (k < t)%nat -> score t Q K F s k = score t Q K F k s.
Proof.
  intros Q K F H s k Hs Hk. destruct (thin_score Q K F H) as [v [c E]]. rewrite !E by assumption. ring.
Qed.

Lemma thin_attention : forall Q K V F, thin_matrix F -> thin_matrix (attention t Q K V F).
Proof.
  intros Q K V F H. destruct (thin_score Q K F H) as [v [c E]].
  exists (fun i => dsum t (fun s => dmul (cell (product t V F) i s) (dmul c (v s)))), v.
  intros i k _ Hk. rewrite cell_attention by assumption.
  rewrite (dsum_ext _ _ (fun s => dmul (v k) (dmul (cell (product t V F) i s) (dmul c (v s))))).
  - rewrite dsum_scale. ring.
  - intros s Hs. rewrite E by assumption. ring.
Qed.
Lemma thin_rank_one : forall Q K V F, length Q = 1%nat -> thin_matrix (attention t Q K V F).
Proof.
  intros Q K V F H.
  exists (fun i => dsum t (fun s => dmul (cell (product t V F) i s) (cell (product t K F) 0 s))),
    (fun k => cell (product t Q F) 0 k).
  intros i k _ Hk. rewrite cell_attention by assumption.
  rewrite (dsum_ext _ _ (fun s => dmul (cell (product t Q F) 0 k)
    (dmul (cell (product t V F) i s) (cell (product t K F) 0 s)))).
  - rewrite dsum_scale. ring.
  - intros s Hs. unfold score. rewrite H. cbn [dsum]. ring.
Qed.
Lemma thin_activation : forall r F, rectangular t F -> thin_matrix F -> thin_matrix (activation r F).
Proof.
  intros r F R [u [v H]]. destruct (activation_ok t r F R) as [E [_ C]].
  exists (fun i => power (u i) r), (fun k => power (v k) r). intros i k Hi Hk. rewrite E in Hi.
  rewrite C, H by assumption. apply power_product.
Qed.
End Thin.

(* ---- Where (K Z)^T (Q Z) is multiplied by 1 + g eps ---- *)

Section Scores.
Variables (a : nat) (K0 K1 Q0 Q1 : nat -> nat -> Z) (L B C H : nat -> nat -> Z) (g : Z).
Hypothesis HL : forall u v, (u < a)%nat -> (v < a)%nat -> H u v + L v u = if Nat.eqb u v then g else 0.
Let S0 s k := sum a (fun u => K0 u s * Q0 u k).
Let S1 s k := sum a (fun u => K0 u s * Q1 u k + K1 u s * Q0 u k).
Let rest s k := sum a (fun u => sum a (fun v => B u v * (Q0 v s * Q0 u k)))
  + sum a (fun u => sum a (fun v => C u v * (K0 u s * K0 v k))).
Lemma sum_diagonal : forall u f, (u < a)%nat -> sum a (fun v => (if Nat.eqb u v then g else 0) * f v) = g * f u.
Proof.
  intros u f Hu. rewrite (sum_ext a _ (fun v => (g * f v) * delta v u)).
  - rewrite sum_delta by assumption. reflexivity.
  - intros v Hv. unfold delta. rewrite (Nat.eqb_sym u v). destruct (Nat.eqb v u); ring.
Qed.
Lemma scores_change : forall s k,
  (forall u, (u < a)%nat -> K1 u s = sum a (fun v => L u v * K0 v s) + sum a (fun v => B u v * Q0 v s)) ->
  (forall u, (u < a)%nat -> Q1 u k = sum a (fun v => C u v * K0 v k) + sum a (fun v => H u v * Q0 v k)) ->
  S1 s k = g * S0 s k + rest s k.
Proof.
  intros s k HK HQ. unfold S1, S0, rest.
  rewrite (sum_ext a _ (fun u =>
    (sum a (fun v => C u v * (K0 u s * K0 v k)) + sum a (fun v => H u v * (K0 u s * Q0 v k))) +
    (sum a (fun v => L u v * (K0 v s * Q0 u k)) + sum a (fun v => B u v * (Q0 v s * Q0 u k))))).
  2: { intros u Hu. rewrite HK, HQ by assumption. rewrite Z.mul_add_distr_l, Z.mul_add_distr_r.
       rewrite <- !sum_scale. rewrite (Z.mul_comm (sum a (fun v => L u v * K0 v s))), (Z.mul_comm (sum a (fun v => B u v * Q0 v s))).
       rewrite <- !sum_scale. f_equal; f_equal; apply sum_ext; intros; ring. }
  rewrite !sum_plus. rewrite (sum_swap a a (fun u v => L u v * (K0 v s * Q0 u k))).
  assert (E : sum a (fun u => sum a (fun v => H u v * (K0 u s * Q0 v k)))
      + sum a (fun u => sum a (fun v => L v u * (K0 u s * Q0 v k))) = g * sum a (fun u => K0 u s * Q0 u k)).
  { rewrite <- sum_plus, <- sum_scale. apply sum_ext. intros u Hu. rewrite <- sum_plus.
    rewrite (sum_ext a _ (fun v => (if Nat.eqb u v then g else 0) * (K0 u s * Q0 v k))).
    - rewrite sum_diagonal by assumption. reflexivity.
    - intros v Hv. rewrite <- HL by assumption. ring. }
  lia.
Qed.
Lemma rest_zero : (forall u v, (u < a)%nat -> (v < a)%nat -> B u v = 0 /\ C u v = 0) ->
  forall s k, rest s k = 0.
Proof.
  intros Hz s k. unfold rest. rewrite !sum_zero; [reflexivity| |]; intros u Hu; apply sum_zero; intros v Hv;
    destruct (Hz u v Hu Hv) as [E F]; rewrite ?E, ?F; ring.
Qed.
Lemma rest_antisymmetric :
  (forall u v, (u < a)%nat -> (v < a)%nat -> B u v + B v u = 0 /\ C u v + C v u = 0) ->
  forall s k, rest s k + rest k s = 0.
Proof.
  intros Hz s k. unfold rest.
  rewrite (sum_swap a a (fun u v => B u v * (Q0 v k * Q0 u s))), (sum_swap a a (fun u v => C u v * (K0 u k * K0 v s))).
  assert (E : sum a (fun u => sum a (fun v => B u v * (Q0 v s * Q0 u k)))
      + sum a (fun k0 => sum a (fun i => B i k0 * (Q0 k0 k * Q0 i s))) = 0).
  { rewrite <- sum_plus. apply sum_zero. intros u Hu. rewrite <- sum_plus. apply sum_zero. intros v Hv.
    destruct (Hz u v Hu Hv) as [E _]. replace (B v u) with (- B u v) by lia. ring. }
  assert (F : sum a (fun u => sum a (fun v => C u v * (K0 u s * K0 v k)))
      + sum a (fun k0 => sum a (fun i => C i k0 * (K0 i k * K0 k0 s))) = 0).
  { rewrite <- sum_plus. apply sum_zero. intros u Hu. rewrite <- sum_plus. apply sum_zero. intros v Hv.
    destruct (Hz u v Hu Hv) as [_ E']. replace (C v u) with (- C u v) by lia. ring. }
  lia.
Qed.
Lemma scores_scaled : forall s k,
  (forall u x, (u < a)%nat -> x = s \/ x = k ->
    K1 u x = sum a (fun v => L u v * K0 v x) + sum a (fun v => B u v * Q0 v x) /\
    Q1 u x = sum a (fun v => C u v * K0 v x) + sum a (fun v => H u v * Q0 v x)) ->
  (forall u v, (u < a)%nat -> (v < a)%nat -> B u v = 0 /\ C u v = 0) \/
  (forall u v, (u < a)%nat -> (v < a)%nat -> B u v + B v u = 0 /\ C u v + C v u = 0) /\
    (S0 s k = S0 k s) /\ (S1 s k = S1 k s) ->
  S1 s k = g * S0 s k.
Proof.
  intros s k HX Hcase.
  assert (E : S1 s k = g * S0 s k + rest s k) by (apply scores_change; intros; apply HX; auto).
  destruct Hcase as [Hz|[Hz [Y0 Y1]]].
  - rewrite E, rest_zero by assumption. ring.
  - assert (F : S1 k s = g * S0 k s + rest k s) by (apply scores_change; intros; apply HX; auto).
    pose proof (rest_antisymmetric Hz s k) as A. rewrite <- Y0 in F. lia.
Qed.
End Scores.
